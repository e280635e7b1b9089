import { expect, test } from "vitest";
import { htmlToText } from "../../../tools/web/_html-text.ts";
import { isText, mediaType, pageText } from "../../../tools/web/_page-text.ts";
import { cpuMs } from "../../support/cpu-ms.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("markup, scripts, styles, comments and menus are left out", () => {
  const html = `<!doctype html><style>p{}</style><nav><a href=x>Menu</a></nav><!-- hidden -->
    <h1>Title</h1><p>First   line<br>second</p><script>if (a < b) alert("</p>")</script>
    <table><tr><td>1<td>2</tr></table><noscript>enable</noscript><template>t</template>`;
  expect(htmlToText(html)).toEqual({ text: "Title\nFirst line\nsecond\n1 2", truncated: false });
});

test("text that only looks like a tag stays text once it is decoded", () => {
  expect(htmlToText("<p>&lt;script&gt; &#x1F600; a &lt; b</p>").text).toBe("<script> 😀 a < b");
});

test.each(["<", "<p", "<!--", "</", "<script>", "&", "&#xffffffff;", "<p title='", "</p></p>", "<svg><title>x"])(
  "the broken page %j does not throw",
  (html) => {
    expect(htmlToText(html).text.length).toBeLessThan(10);
  },
);

test.each([
  ["deep nesting", "<div>".repeat(200_000)],
  ["deep nesting and wrong end tags", "<i>".repeat(150_000) + "</b>".repeat(130_000)],
  ["open lists", "<ul><li>".repeat(120_000)],
  ["a million spaces", `<p>${" ".repeat(1_000_000)}x`],
  ["a million line breaks", "<br>".repeat(250_000)],
  ["a million attributes", `<p ${"a ".repeat(500_000)}>`],
  ["a million brackets", "<".repeat(1_000_000)],
  ["a million ampersands", "&".repeat(1_000_000)],
  ["unclosed comments", "<!--".repeat(250_000)],
])("%s takes less than a second of CPU time", (_name, html) => {
  const startedAt = cpuMs();
  htmlToText(html);
  expect(cpuMs() - startedAt).toBeLessThan(1_000);
});

test("nesting beyond a thousand levels cuts the page off", () => {
  const html = `<p>kept${"<div>".repeat(20_000)}lost`;
  expect(htmlToText(html)).toEqual({ text: "kept", truncated: true });
});

test.each([
  ["text/plain; charset=iso-8859-1", Uint8Array.of(0xe9), "é"],
  ["text/plain; charset=shift_jis", Uint8Array.of(0x83, 0x65), "テ"],
  ["text/plain; charset=nonsense", bytes("é"), "é"],
  ["text/plain", Uint8Array.of(0xff), "\uFFFD"],
  ["text/plain", bytes("a\0b"), "ab"],
  ["text/html", Buffer.concat([bytes('<meta charset="windows-1252">'), Uint8Array.of(0x80)]), "€"],
  ["text/html; charset=utf-8", bytes('<meta charset="windows-1252">€'), "€"],
  ["application/json", bytes('{"a": "<b>"}'), '{"a": "<b>"}'],
])("%s is decoded", (header, body, content) => {
  expect(pageText(body, header)).toEqual({ content, truncated: false });
});

test("content is cut off at 50,000 characters and never inside a character", () => {
  const { content, truncated } = pageText(bytes(`x${"😀".repeat(40_000)}`), "text/plain");
  expect({ length: content.length, truncated }).toEqual({ length: 49_999, truncated: true });
  expect(content.isWellFormed()).toBe(true);
});

test.each([
  "text/html",
  "text/csv",
  "application/json",
  "application/ld+json",
  "application/xhtml+xml",
  "application/xml",
])("%s is text", (type) => {
  expect(isText(mediaType(`${type.toUpperCase()} ; charset=x`))).toBe(true);
});

test.each(["", "image/svg+xml", "application/octet-stream", "textual/html", "application/zip", "multipart/form-data"])(
  "%j is not text",
  (type) => {
    expect(isText(type)).toBe(false);
  },
);
