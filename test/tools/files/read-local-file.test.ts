import { expect, test } from "vitest";
import { z } from "zod";
import readLocalFile from "../../../tools/files/read-local-file.ts";

test("read_local_file runs only on the client, within 5 seconds", () => {
  expect(readLocalFile).toMatchObject({ execution: "client", timeoutMs: 5_000 });
  expect(readLocalFile.run).toBeUndefined();
});

test.each([{}, { filePath: "" }, { filePath: 1 }, { filePath: "x".repeat(5_000) }, { path: "a.txt" }])(
  "the input %j is refused before it is sent",
  (input) => {
    expect(z.instanceof(z.ZodType).parse(readLocalFile.input).safeParse(input).success).toBe(false);
  },
);
