"""Serving: an index for others to search, by HTTP and as an MCP server."""
