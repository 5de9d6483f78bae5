"""The console, page by page, over HTTP."""
