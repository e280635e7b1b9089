import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

// The MCP server of a stock system, which keeps its stock in memory.

const stock = new Map([
  ["lamp", 12],
  ["chair", 0],
]);
const sku = z.enum(["lamp", "chair"]);
const server = new McpServer({ name: "stock", version: "1.0.0" });

server.registerTool(
  "check",
  {
    description: "How many of an article are in stock.",
    inputSchema: { sku },
    annotations: { readOnlyHint: true },
  },
  (input) => ({ content: [{ type: "text", text: `${stock.get(input.sku)} in stock` }] }),
);

server.registerTool(
  "reserve",
  {
    description: "Reserves a number of an article for an order.",
    inputSchema: { sku, count: z.int().min(1).max(100), order: z.int() },
  },
  ({ sku: article, count, order }) => {
    const left = (stock.get(article) ?? 0) - count;
    if (left < 0) return { isError: true, content: [{ type: "text", text: `Only ${left + count} are left` }] };
    stock.set(article, left);
    return { content: [{ type: "text", text: `${count} reserved for order ${order}, ${left} left` }] };
  },
);

await server.connect(new StdioServerTransport());
