"""What lockdown deploys, for each program and system."""
