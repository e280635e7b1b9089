/** Where a link leads. */
interface SafeLink {
  readonly href: string;
  /** The host as the browser resolves it, in Punycode; of `mailto:` the address. */
  readonly host: string;
}

const PROTOCOLS: readonly string[] = ["http:", "https:", "mailto:"];

/**
 * Returns a link that may be followed, or `undefined` for any other, such as `javascript:` or a path of this page. Those
 * are shown as they are written.
 */
export function toSafeLink(href: string): SafeLink | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  if (!PROTOCOLS.includes(url.protocol)) return undefined;
  return { href: url.href, host: url.protocol === "mailto:" ? url.pathname : url.host };
}
