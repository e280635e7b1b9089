import { glob, readFile } from "node:fs/promises";
import { parseSync } from "vite";
import { expect, test } from "vitest";

/** Attributes and properties of components whose value people see or hear. */
const SHOWN = ["alt", "aria-description", "aria-label", "hint", "label", "placeholder", "text", "title", "word"];
/** What is the same in every language: the keys of the keyboard, the names of file formats, and an example of code. */
const SAME = ["y", "n", "m", "Markdown", "JSON", "tool_call_state"];

type Node = Readonly<Record<string, unknown>>;

interface ShownNode {
  readonly type: string;
  readonly name?: { readonly name?: unknown };
  readonly value?: unknown;
  readonly children?: readonly (Node & { readonly type: string })[];
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value;
const childrenOf = (node: Node) => Object.values(node).flat().filter(isNode);

/** Returns the texts in an expression that can become its value. */
function textsIn(node: Node): readonly string[] {
  const { type } = node;
  if (type === "Literal") return typeof node["value"] === "string" ? [node["value"]] : [];
  if (type === "TemplateElement") return [(node["value"] as { readonly raw: string }).raw];
  if (type === "ConditionalExpression") return [node["consequent"], node["alternate"]].filter(isNode).flatMap(textsIn);
  const isValue = ["JSXExpressionContainer", "TemplateLiteral", "LogicalExpression", "BinaryExpression"].includes(
    String(type),
  );
  // What is compared is not shown.
  const isComparison = /^[=!]==$/u.test(String(node["operator"]));
  return isValue && !isComparison ? childrenOf(node).flatMap(textsIn) : [];
}

/** Returns the texts that a component shows. */
function shownIn(node: Node): readonly string[] {
  const { type, name, value, children } = node as unknown as ShownNode;
  const inside = childrenOf(node).flatMap(shownIn);
  if (type === "JSXText") return [String(value)];
  if (type === "JSXAttribute" && SHOWN.includes(String(name?.name)) && isNode(value))
    return [...textsIn(value), ...inside];
  const expressions = children?.filter((child) => child.type === "JSXExpressionContainer") ?? [];
  return [...expressions.flatMap(textsIn), ...inside];
}

test("no component has a text of its own", async () => {
  const files = await Array.fromAsync(glob("web/src/**/*.tsx"));
  const found = await Promise.all(
    files.map(async (file) => {
      const { program } = parseSync(file, await readFile(file, "utf8"));
      const texts = shownIn(program as unknown as Node).map((text) => text.trim());
      return texts.filter((text) => /\p{L}/u.test(text) && !SAME.includes(text)).map((text) => `${file}: ${text}`);
    }),
  );

  expect(files.length).toBeGreaterThan(50);
  expect(found.flat()).toEqual([]);
});
