/** An IPv4 address of 127.0.0.0/8. By itself, for a browser has no `node:net`. */
const IPV4_LOOPBACK = /^127(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}$/;

/** Whether a host name always means this machine, whatever a name server says. */
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

/** The same of an address's host. */
export function namesLoopback(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}
