import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { writeSizes } from "../../scripts/sizes/write-sizes.ts";

const measured = {
  installed: new Map([
    ["parley", 4_040_000],
    ["openai", 12_500_000],
  ]),
  image: new Map([["/app/node_modules", 304_400_000]]),
  client: 310_000,
  packed: { parley: 1_230_000, client: 84_000 },
};

test("the figures on a page are replaced, and nothing else is", () => {
  const page = [
    "Before. <!-- sizes: own -->old<!-- /sizes -->. It adds <!-- sizes: image -->9 MB<!-- /sizes -->.",
    "<!-- sizes: all -->old<!-- /sizes -->",
  ].join("\n");

  expect(writeSizes(page, measured)).toBe(
    `Before. <!-- sizes: own -->\`parley\` itself is 4.0 MB with its page, its tools and these pages, packed 1.2 MB; \`@parley/client\` is 0.3 MB, packed 0.08 MB<!-- /sizes -->. It adds <!-- sizes: image -->304 MB<!-- /sizes -->.
<!-- sizes: all -->

\`\`\`text
parley, installed with --omit=dev: 16.5 MB in 2 packages. The largest:
   12.5 MB  openai
    4.0 MB  parley

The image, without node:24-slim, certificates and espeak-ng: 304.4 MB
  304.4 MB  /app/node_modules
\`\`\`

<!-- /sizes -->`,
  );
});

test.each([
  ["docs/packages.md", ["all", "own"]],
  ["docs/operating.md", ["image"]],
])("the sizes in %s come from the script", (page, names) => {
  const text = readFileSync(page, "utf8");

  const written = writeSizes(text, measured);

  expect([...text.matchAll(/<!-- sizes: (\w+) -->/g)].map(([, name]) => name)).toEqual(names);
  expect(written).not.toBe(text);
  expect(writeSizes(written, measured)).toBe(written);
});

test.each(["No figures.", "<!-- sizes: most -->1<!-- /sizes -->"])("the page %s is not written", (page) => {
  expect(() => writeSizes(page, measured)).toThrow(TypeError);
});
