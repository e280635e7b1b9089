import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import { abortable } from "../../src/lib/abortable.ts";
import { isPublicAddress } from "./_address-guard.ts";

/**
 * How host names are resolved, and which addresses may be connected to. Only tests use a network other than
 * `publicNetwork`.
 */
export interface Network {
  readonly resolve: (hostname: string) => Promise<readonly string[]>;
  readonly isAllowed: (address: string) => boolean;
}

export const publicNetwork: Network = {
  resolve: async (hostname) => (await lookup(hostname, { all: true })).map(({ address }) => address),
  isAllowed: (address) => isPublicAddress(address) && !isOwnAddress(address),
};

/**
 * Resolves the URL's host once and checks all of its addresses. A single forbidden address is enough to reject the
 * host. Connect only to the returned addresses, because a second DNS answer may differ.
 */
export async function vetHost(url: URL, network: Network, signal: AbortSignal): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const addresses = isIP(host) ? [host] : await abortable(resolveHost(host, network), signal);
  if (addresses.length === 0) throw new Error(`The host ${host} was not found`);
  if (!addresses.every(network.isAllowed)) throw new Error(`The host ${host} is not on the public internet`);
  return addresses;
}

/** Returns a `lookup` for sockets that resolves any name to the given addresses. */
export function pinned(addresses: readonly string[]): LookupFunction {
  const known = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    const [first] = known;
    if (options.all) callback(null, known);
    else callback(null, first?.address ?? "", first?.family);
  };
}

async function resolveHost(host: string, network: Network): Promise<readonly string[]> {
  try {
    return await network.resolve(host);
  } catch {
    return [];
  }
}

/**
 * Whether the address is this machine's own. Such an address is refused even if it is public, because it would reach
 * services that listen here.
 */
function isOwnAddress(address: string): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === address));
}
