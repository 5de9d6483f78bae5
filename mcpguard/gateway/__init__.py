"""The agents' doors: MCP over HTTP and over streams."""
