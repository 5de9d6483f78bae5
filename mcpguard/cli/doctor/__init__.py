"""`mcpguard doctor`: one small file for each subject that it checks. `checks` lists them all."""
