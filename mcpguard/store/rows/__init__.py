"""What is kept, table by table."""
