"""The programs that run agents: where each configures its servers, in which format, and how it reaches the guard."""
