import { isIPv4 } from "node:net";

/** Whether a host name always means this machine, whatever a name server says. */
export function isLoopback(hostname: string): boolean {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  if (isIPv4(name)) return name.startsWith("127.");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || name === "[::1]";
}

/** The same of an address's host. */
export function namesLoopback(url: string): boolean {
  return URL.canParse(url) && isLoopback(new URL(url).hostname);
}
