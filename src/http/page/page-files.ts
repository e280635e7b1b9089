import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

export interface PageFile {
  /** The path in requests, for example `/assets/index-3f2a.js`. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly type: string;
  readonly etag: string;
  /** Whether the name changes with the content, so that browsers may cache the file. */
  readonly isImmutable: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".woff2": "font/woff2",
};

/**
 * Reads the built page into memory, so that no request path ever reaches the disk. Returns an empty list if the page is
 * not built.
 */
export function readPage(folder: string): readonly PageFile[] {
  const names = readNames(folder).filter((name) => TYPES[extname(name)] !== undefined);
  return names.map((name) => {
    const bytes = readFileSync(join(folder, name));
    const path = name === "index.html" ? "/" : `/${name}`;
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`;
    return { path, bytes, type: TYPES[extname(name)] ?? "", etag, isImmutable: path.startsWith("/assets/") };
  });
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch {
    return [];
  }
}
