const MAX_LENGTH = 2_048;

/**
 * Parses a URL from the model or a redirect. The URL parser turns 0x7f.1, 2130706433 and the like into plain IPv4, so
 * the address that is checked is the address that is connected to.
 */
export function parsePageUrl(text: string, base?: URL): URL {
  if (text.length > MAX_LENGTH) throw new Error(`The URL is longer than ${MAX_LENGTH} characters`);
  const url = URL.parse(text, base?.href);
  if (url === null) throw new Error("This is not a valid URL: expected a full one such as https://example.com/page");
  if (url.protocol !== "http:" && url.protocol !== "https:") throw new Error("Only http and https URLs can be fetched");
  if (url.username !== "" || url.password !== "")
    throw new Error("URLs with a user name or password cannot be fetched");
  // Services on ports below 1024 speak other protocols (mail, ssh, ...). A crafted request must not reach them.
  if (url.port !== "" && url.port !== "80" && url.port !== "443" && Number(url.port) < 1024) {
    throw new Error(`URLs with port ${url.port} cannot be fetched`);
  }
  url.hash = "";
  return url;
}
