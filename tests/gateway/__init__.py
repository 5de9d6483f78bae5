"""The agents' doors."""
