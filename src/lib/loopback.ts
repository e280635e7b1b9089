/** Matches IPv4 addresses in 127.0.0.0/8. A regular expression is used, because browsers have no `node:net`. */
const IPV4_LOOPBACK = /^127(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}$/;

/** Whether a host name always means this machine, regardless of DNS. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  return (
    IPV4_LOOPBACK.test(name) ||
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    name === "[::1]"
  );
}

/** Whether the URL's host always means this machine. */
export function namesLoopback(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}
