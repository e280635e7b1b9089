import type { HttpApp } from "../http-app.ts";
import { HttpError } from "../http-error.ts";
import type { PageFile } from "../page/page-files.ts";

interface PageOptions {
  readonly files: readonly PageFile[];
  /** LiveKit's URL for participants: the only other host that the page may connect to. */
  readonly livekitUrl: string;
}

/** `GET /`: the page for talking with the agent, and its assets. It loads nothing from other hosts. */
export function pageRoutes(app: HttpApp, { files, livekitUrl }: PageOptions): void {
  const headers = {
    "content-security-policy": contentPolicy(livekitUrl),
    "permissions-policy": "microphone=(self), camera=(self), geolocation=(self), clipboard-read=(self)",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  for (const { path, bytes, type, etag, isImmutable } of files)
    app.get(path, async (request, reply) => {
      reply.headers({ ...headers, etag, "cache-control": isImmutable ? "max-age=31536000, immutable" : "no-cache" });
      if (request.headers["if-none-match"] === etag) return reply.code(304).send();
      return reply.type(type).send(bytes);
    });
  if (files.length === 0)
    app.get("/", () => {
      throw new HttpError(404, "The page is not built: run npm run build:page, then restart the worker");
    });
}

/** Allows scripts, styles and fonts only from our own files, and connections only to this server and LiveKit. */
function contentPolicy(livekitUrl: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    "img-src 'self' data:",
    "media-src 'self' blob:",
    `connect-src 'self' ${livekitSources(livekitUrl).join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * Returns the addresses at which LiveKit's client reaches LiveKit. Signaling uses a WebSocket. If the WebSocket is
 * refused, the client asks for the reason over HTTP.
 */
function livekitSources(livekitUrl: string): readonly string[] {
  const { protocol, host, hostname } = new URL(livekitUrl);
  const [socket, http] = protocol === "wss:" || protocol === "https:" ? ["wss:", "https:"] : ["ws:", "http:"];
  // LiveKit Cloud directs its client to the nearest region, and each region has its own host.
  const hosts = hostname.endsWith(".livekit.cloud") ? [host, "*.livekit.cloud"] : [host];
  return hosts.flatMap((each) => [`${socket}//${each}`, `${http}//${each}`]);
}
