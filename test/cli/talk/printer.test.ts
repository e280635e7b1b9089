import { expect, test } from "vitest";
import { toLine } from "../../../src/cli/talk/printer.ts";

const call = { id: "r1", messageId: "m", toolName: "calculator", parameters: { expression: "2+2" } } as const;

test("a call that runs here is marked as such", () => {
  expect(toLine({ event: "tool_call", ...call, ranBy: "server" })).toBe('  → calculator {"expression":"2+2"}');
  expect(toLine({ event: "tool_call", ...call, ranBy: "client" })).toContain("(run here)");
});

test("a result says how the call ended", () => {
  const result = { event: "tool_result", id: "r1", toolName: "calculator", ranBy: "server" } as const;

  expect(toLine({ ...result, success: true, result: { answer: 4 } })).toBe(
    '  ← calculator (run by the server): {"answer":4}',
  );
  expect(toLine({ ...result, success: false, errorCode: "timeout", errorMessage: "too slow" })).toContain(
    "timeout: too slow",
  );
});

test.each(["permission_denied", "invalid_parameters", "unknown_tool", "not_run"])(
  "a call that ended as %s is not shown as one that the server ran",
  (errorCode) => {
    const result = { event: "tool_result", id: "r1", toolName: "calculator", ranBy: "server", success: false } as const;

    expect(toLine({ ...result, errorCode, errorMessage: "why" })).toBe(`  ← calculator (not run): ${errorCode}: why`);
  },
);

test("a permission that is no longer open is shown with its outcome", () => {
  const closed = { event: "permission_closed", id: "p1", title: "Write notes/a.md", state: "expired" } as const;

  expect(toLine(closed)).toBe("  ? Write notes/a.md: expired");
});

test("a question shows its subject", () => {
  const request = { event: "permission_request", id: "p1", title: "Write a.md" } as const;

  expect(toLine({ ...request, input: { path: "a.md", content: "Milk" } })).toBe(
    '  ? Write a.md {"path":"a.md","content":"Milk"}: [y]es, [a]lways or [n]o',
  );
  expect(toLine({ ...request, input: undefined })).toBe("  ? Write a.md: [y]es, [a]lways or [n]o");
});

test("a question is shown in full, however long it is, and no character in it reverses its text", () => {
  const title = `Run ${"x".repeat(1_000)}; rm -r \u202e~`;
  const input = { command: `${"y".repeat(1_000)}; rm -r \u2066~` };

  const line = toLine({ event: "permission_request", id: "p1", title, input });

  expect(line).toContain(`${"x".repeat(1_000)}; rm -r \uFFFD~`);
  expect(line).toContain(`${"y".repeat(1_000)}; rm -r \uFFFD~`);
});

test("an empty final sentence is not shown", () => {
  expect(toLine({ event: "sentence", sequence: 3, text: "", isFinal: true })).toBeUndefined();
});

test("long parameters are truncated", () => {
  const line = toLine({ event: "tool_call", ...call, parameters: { text: "x".repeat(1_000) }, ranBy: "client" });

  expect(line?.length).toBeLessThan(300);
});

test("control characters cannot drive the terminal", () => {
  const line = toLine({ event: "sentence", sequence: 1, text: "a\u001b[2Jb\u009bc", isFinal: false });

  expect(line).toBe("a\uFFFD[2Jb\uFFFDc");
});
