-- The MCP server that has the call's tool; null for a tool of the worker or of a client, and for calls of earlier versions.
alter table tool_calls add column mcp_server text;
