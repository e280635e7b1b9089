/** The target of a link. */
interface SafeLink {
  readonly href: string;
  /** The host as the browser resolves it, in Punycode. For `mailto:`, the address. */
  readonly host: string;
}

const PROTOCOLS: readonly string[] = ["http:", "https:", "mailto:"];

/**
 * Returns a link that is safe to follow. For any other link, such as `javascript:` or a relative path, returns
 * `undefined`; the link is then shown as source.
 */
export function toSafeLink(href: string): SafeLink | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (!PROTOCOLS.includes(url.protocol)) return undefined;
  return { href: url.href, host: url.protocol === "mailto:" ? url.pathname : url.host };
}
