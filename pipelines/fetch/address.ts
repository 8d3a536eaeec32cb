/** Distinguishes public internet addresses from addresses of this machine and private networks. */
import { lookup as resolve } from 'node:dns';
import { BlockList, isIP, isIPv4, type LookupFunction } from 'node:net';

/** IPv4 networks that are not public: private, shared, loopback, link-local, protocol, benchmarking, multicast and reserved networks. */
const PRIVATE_NETWORKS: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.168.0.0', 16],
  ['198.18.0.0', 15], ['224.0.0.0', 4], ['240.0.0.0', 4],
];

const PRIVATE = new BlockList();
for (const [network, bits] of PRIVATE_NETWORKS) PRIVATE.addSubnet(network, bits, 'ipv4');

/** IPv6 prefixes whose addresses embed an IPv4 address (mapped, compatible, NAT64, 6to4). `at` is the index of the first 16-bit word of the IPv4 address. */
const EMBEDDING: readonly (readonly [prefix: readonly number[], at: number])[] = [
  [[0, 0, 0, 0, 0, 0xffff], 6], [[0, 0, 0, 0, 0, 0], 6], [[0x64, 0xff9b, 0, 0, 0, 0], 6], [[0x2002], 1],
];

/** Matches host names that are never public. */
const PRIVATE_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa)$/;

/** Error for a connection to this machine or to a private network. */
export class PrivateAddress extends Error {
  readonly host: string;

  constructor(host: string, address: string) {
    super(host === address ? `the private address ${address}` : `the name ${host} with the private address ${address}`);
    this.host = host;
  }
}

/** Returns whether an IP address is public. @param address IP address without brackets; an IPv6 address with a zone counts as private */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !PRIVATE.check(address, 'ipv4');
  if (isIP(address) === 0 || address.includes('%')) return false;
  const words = wordsOf(address);
  for (const [prefix, at] of EMBEDDING) {
    if (prefix.every((word, place) => words[place] === word)) return isPublicAddress([words[at] ?? 0, words[at + 1] ?? 0].flatMap((word) => [word >> 8, word & 0xff]).join('.'));
  }
  const [first = 0, second = 0] = words;
  // Global unicast addresses are in 2000::/3. The exception is 2001::/23, which is reserved for protocols such as Teredo.
  return first >> 13 === 1 && !(first === 0x2001 && second < 0x200);
}

/** Returns the eight 16-bit words of an IPv6 address. */
function wordsOf(address: string): number[] {
  const dotted = address.slice(address.lastIndexOf(':') + 1);
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number);
  const hexadecimal = isIPv4(dotted) ? `${address.slice(0, -dotted.length)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}` : address;
  const [before = '', after] = hexadecimal.split('::');
  const words = (text: string): number[] => text.split(':').filter((word) => word !== '').map((word) => Number.parseInt(word, 16));
  const [head, tail] = [words(before), words(after ?? '')];
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

/** Returns whether a host is certainly private, judged by name or address without a lookup. @param hostname host as `URL` returns it */
export function isPrivateHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '').toLowerCase();
  if (isIP(host) !== 0) return !isPublicAddress(host);
  return !host.includes('.') || PRIVATE_NAME.test(host);
}

/**
 * Returns a lookup function that fails with `PrivateAddress` unless all addresses of the name are public. The connection uses the checked addresses, so that
 * the name cannot resolve to a different address after the check.
 */
export function publicLookup(ask: LookupFunction = resolve): LookupFunction {
  return (hostname, options, callback) => {
    ask(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, [], 0);
      const addresses = typeof found === 'string' ? [{ address: found, family: isIP(found) }] : found;
      const [first] = addresses;
      if (first === undefined) return callback(new Error(`no address found for ${hostname}`), [], 0);
      const inner = addresses.find(({ address }) => !isPublicAddress(address));
      if (inner !== undefined) return callback(new PrivateAddress(hostname, inner.address), [], 0);
      return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
    });
  };
}

/** Returns the `PrivateAddress` among an error and its causes, or null. */
export function privateAddressOf(error: unknown): PrivateAddress | null {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof PrivateAddress) return each;
    if (each instanceof AggregateError) return each.errors.map(privateAddressOf).find((found) => found !== null) ?? null;
  }
  return null;
}
