/** Parses IP addresses of clients and proxies, and compares them with networks. */
import { BlockList, isIP } from 'node:net';
import { MappaleError } from '../pipelines/errors.ts';

/** Addresses of this machine. */
export const LOOPBACK = ['127.0.0.0/8', '::1'] as const;

/** Returns true if an address is in one of the trusted networks. */
export type Trust = (address: string) => boolean;

/**
 * Returns a function that tests whether an address is in one of the networks.
 * @param networks IPv4 or IPv6 addresses or networks such as `10.0.0.0/8`
 * @throws MappaleError `PROXY_INVALID` (exit 2)
 */
export function trusting(networks: readonly string[]): Trust {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
    const version = isIP(address);
    if (version === 0 || Number(bits ?? 1) < 1 || Number(bits ?? 1) > (version === 4 ? 32 : 128)) {
      throw new MappaleError('a trusted address or network is not valid', {
        code: 'PROXY_INVALID', kind: 'usage', detail: `expected an address or a network like 10.0.0.1, 10.0.0.0/8 or fd00::/8, found ${network}`,
        hint: 'Name the addresses from which your proxy connects: --trust-proxy 127.0.0.1. Or name the addresses that read the metrics: --metrics-from 10.0.0.0/8',
        fix: 'npx mappale serve --trust-proxy 127.0.0.1',
      });
    }
    if (bits === undefined) list.addAddress(address, family(version));
    else list.addSubnet(address, Number(bits), family(version));
  }
  // By default no network is trusted. Addresses then need not be parsed for each request.
  if (networks.length === 0) return () => false;
  return (given) => {
    const address = plainAddress(given);
    return address !== null && list.check(address, family(isIP(address)));
  };
}

function family(version: number): 'ipv4' | 'ipv6' {
  return version === 6 ? 'ipv6' : 'ipv4';
}

/** Returns the network of an address: an IPv4 address, or the first 64 bits of an IPv6 address. Limits treat a network as one client. */
export function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [head, tail ?? ''].map((groups) => (groups === '' ? [] : groups.split(':'))) as [string[], string[]];
  const zeros = tail === undefined ? 0 : 8 - first.length - last.length;
  return `${[...first, ...Array.from({ length: zeros }, () => '0'), ...last].slice(0, 4).join(':')}::/64`;
}

/**
 * Returns an address without the brackets, port and zone that some proxies add. An IPv4 address in IPv6 notation is returned as IPv4.
 * @returns null if the text is not an address
 */
export function plainAddress(text: string | undefined): string | null {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|(\d+\.\d+\.\d+\.\d+))(?::\d+)?$/.exec(text?.trim() ?? '') ?? [];
  const address = (bracketed ?? dotted ?? text?.trim() ?? '').split('%', 1).join().replace(/^::ffff:(?=\d+\.)/i, '');
  return isIP(address) === 0 ? null : address;
}
