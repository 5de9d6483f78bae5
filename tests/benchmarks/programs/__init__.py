"""What programs of agents cost, and what they save (`code_execution`)."""
