import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

const GLOBAL_IPV6 = ipaddr.parseCIDR("2000::/3");
const NAT64 = ipaddr.parseCIDR("64:ff9b::/96");
/** Azure's host agent. Every Azure virtual machine can reach it, although its address is public. */
const CLOUD_AGENTS: ReadonlySet<string> = new Set(["168.63.129.16"]);

/**
 * Whether `address` belongs to the public internet. Anything not known to be public is rejected: private, loopback,
 * link-local (cloud metadata), shared, reserved, multicast, tunnels, and IPv6 forms that contain such an IPv4 address.
 */
export function isPublicAddress(address: string): boolean {
  const canonical = isIP(address) === 6 ? canonicalIpv6(address) : address;
  if (canonical === undefined || isIP(canonical) === 0) return false;
  const parsed = ipaddr.parse(canonical);
  if (parsed.kind() === "ipv4") return parsed.range() === "unicast" && !CLOUD_AGENTS.has(canonical);
  const carriesIpv4 = parsed.range() === "ipv4Mapped" || parsed.match(NAT64);
  if (carriesIpv4) return isPublicAddress(parsed.toByteArray().slice(-4).join("."));
  return parsed.range() === "unicast" && parsed.match(GLOBAL_IPV6);
}

/**
 * Returns the address in hexadecimal only, because ipaddr.js reads ::1.2.3.4 as ::ffff:1.2.3.4 and sockets do not.
 * Returns `undefined` for an address with a zone.
 */
function canonicalIpv6(address: string): string | undefined {
  return URL.parse(`http://[${address}]`)?.hostname.slice(1, -1);
}
