/** Tests the limits of downloads: size, speed, free space and permitted addresses. Publishers are HTTP servers on this machine. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, request as send } from 'node:http';
import type { AddressInfo, LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { NO_PROXIES, type Proxies } from '../../pipelines/config.ts';
import { loadDownload } from '../../pipelines/contract/download.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { isPrivateHost, isPublicAddress, publicLookup, PrivateAddress } from '../../pipelines/fetch/address.ts';
import { postJson } from '../../pipelines/fetch/client.ts';
import { fetchRegions, type FetchContext, type FileReport } from '../../pipelines/fetch/fetch.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { testEnvironment } from '../harness/environment.ts';
import { inOrder, served, startPublisher, status, type Handler, type PublisherServer } from '../harness/publishers.ts';
import { syntheticFiles } from '../harness/region.ts';

const run = promisify(execFile);
const MOLISE = findRegion('molise')!;
const NOW = Date.parse('2026-11-23T02:15:00Z');
const MIB = 1024 * 1024;
const SPARE = 64 * MIB;
const ID = 'mimit_fuel';
const NAME = 'anagrafica_impianti_attivi.csv';
const ROUTE = `/${ID}?${NAME}`;
const sources = await loadSources();
const random = randomOf('fetch-bounds', testEnvironment().seed);
/** Maximum size in bytes of a download of the source `ID`. The limit is four times the size of the largest known file. */
const LIMIT = 4 * (await loadDownload(ID)).largest!;

let files: Awaited<ReturnType<typeof syntheticFiles>>;
let server: PublisherServer;
let folder: string;

beforeAll(async () => {
  files = await syntheticFiles(40, 4, { comuni: 2, only: [ID, 'ade_cadastre'] });
});
beforeEach(async () => {
  server = await startPublisher();
  folder = await mkdtemp(join(tmpdir(), 'mappale-bounds-'));
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});
afterAll(async () => {
  await files?.remove();
});

interface Choice extends Partial<Pick<FetchContext, 'freeBytes' | 'lookup'>> {
  readonly now?: () => number;
  readonly proxies?: Proxies;
  /** Setting for the source's address, or null if there is no such setting. */
  readonly url?: string | null;
  readonly source?: string;
  readonly into?: string;
}

async function fetchOne({ now = () => NOW, proxies = NO_PROXIES, url, source = ID, into = folder, ...more }: Choice = {}): Promise<FileReport> {
  const said = (): void => undefined;
  const report = await fetchRegions(
    {
      sources, log: { runId: null, debug: said, info: said, warn: said, progress: said }, clock: { now, wait: async () => undefined }, proxies,
      settings: () => ({ url: url === undefined ? `${server.url}/${source}?` : url, login: null, token: null }), ...more,
    },
    { regions: [MOLISE], folder: into, only: [source], dryRun: false },
  );
  return report.sources[0]!.files[0]!;
}

const csv = (): Buffer => readFileSync(join(files.folder, NAME));
const partial = (into = folder): string[] => (existsSync(join(into, ID, '.partial')) ? readdirSync(join(into, ID, '.partial')) : []);

/** Returns a handler that sends the bytes of `next` again and again, until the client disconnects. */
function endless(headers: Readonly<Record<string, string>>, next: () => Buffer, code = 200): Handler {
  return (_request, response) => {
    response.writeHead(code, headers);
    const more = (): void => {
      while (!response.destroyed && response.write(next()));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  };
}

/** Sends an endless gzip stream of zeros. One byte expands to about a thousand. */
const endlessGzip: Handler = (_request, response) => {
  response.writeHead(200, { 'content-encoding': 'gzip' });
  const packed = createGzip();
  packed.pipe(response);
  const zeros = Buffer.alloc(256 * 1024);
  const more = (): void => {
    while (!response.destroyed && packed.write(zeros));
    if (!response.destroyed) packed.once('drain', more);
  };
  response.once('close', () => packed.destroy());
  more();
};

/** Returns a handler that sends an endless gzip stream of empty blocks, which never yield a byte of the file. */
function emptyBlocks(): Handler {
  const blocks = Buffer.concat(Array.from({ length: 20_000 }, () => Buffer.from([0, 0, 0, 0xff, 0xff])));
  let first = true;
  return endless({ 'content-encoding': 'gzip' }, () => {
    const head = first ? Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]) : Buffer.alloc(0);
    first = false;
    return Buffer.concat([head, blocks]);
  });
}

/** Returns a handler that answers a range request from byte 0 normally, and any other request one byte at a time. */
function dribbled(bytes: Buffer, manners: Parameters<typeof served>[1] = {}): Handler {
  return (request, response) => {
    if (request.headers.range?.startsWith('bytes=0-') === true && manners.ranges !== false) return served(bytes, manners)(request, response);
    response.writeHead(200, { ...(manners.etag === null ? {} : { etag: manners.etag ?? '"1"' }), 'content-length': bytes.length });
    let sent = 0;
    const timer = setInterval(() => (response.destroyed || sent === bytes.length ? clearInterval(timer) : response.write(bytes.subarray(sent, ++sent))), 1);
  };
}

/** Returns a clock that advances by a minute at each reading. */
function minutes(): () => number {
  let now = NOW;
  return () => (now += 60_000);
}

describe('the size of a download', () => {
  it.each([
    ['a gzip body without end', () => endlessGzip],
    ['a gzip body that never yields a byte', emptyBlocks],
    ['a plain body without end', () => endless({}, () => Buffer.alloc(65_536, 'a;b\n'))],
    ['a plain body without end that could be continued', () => (request: Parameters<Handler>[0], response: Parameters<Handler>[1]) => {
      const headers = { etag: '"1"', 'content-range': 'bytes 0-127/*' };
      return request.headers.range === 'bytes=0-127' ? void response.writeHead(206, headers).end(Buffer.alloc(128, 'a')) : endless({ etag: '"1"' }, () => Buffer.alloc(65_536, 'a'))(request, response);
    }],
  ])('is limited to four times the largest known file, and nothing is kept: %s', async (_what, handler) => {
    server.routes.set(ROUTE, handler());
    const { error, outcome } = await fetchOne();
    expect([outcome, error]).toMatchObject(['failed', { code: 'DOWNLOAD_TOO_LARGE', exitCode: 3, at: `${server.url}${ROUTE}`, detail: expect.stringContaining(`expected at most ${LIMIT} bytes`) as string }]);
    expect(error!.hint).toMatch(/manually in the data folder\.$/);
    expect(partial()).toEqual([]);
  });

  it('is checked before the download if the publisher states a larger size', async () => {
    const length = LIMIT + 1 + random.below(1e9);
    server.routes.set(ROUTE, (_request, response) => void response.writeHead(206, { etag: '"1"', 'content-range': `bytes 0-127/${length}` }).end(Buffer.alloc(128, 'a')));
    expect((await fetchOne()).error).toMatchObject({ code: 'DOWNLOAD_TOO_LARGE', detail: expect.stringContaining(`found ${length}`) as string });
    expect([server.seen.length, partial()]).toEqual([1, []]);
  });

  it('must equal Content-Length, and a shorter body that cannot be continued is deleted', async () => {
    server.routes.set(ROUTE, served(csv().subarray(0, 200), { ranges: false, length: csv().length + random.below(1000), cutWhen: () => true }));
    expect((await fetchOne()).error).toMatchObject({ code: 'DOWNLOAD_SHORT' });
    expect(partial()).toEqual([]);
  });

  it('is limited to Content-Length, and a longer body is deleted', async () => {
    const zip = readFileSync(join(files.folder, 'MOLISE.zip'));
    server.routes.set('/ade_cadastre?MOLISE.zip', (request, response) => {
      request.socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${200 + random.below(zip.length - 300)}\r\n\r\n`);
      request.socket.end(zip);
      response.detachSocket(request.socket);
    });
    expect((await fetchOne({ source: 'ade_cadastre' })).error).toMatchObject({ code: 'ZIP_UNREADABLE' });
    expect(readdirSync(join(folder, 'ade_cadastre')).filter((name) => !name.startsWith('.'))).toEqual([]);
    expect(readdirSync(join(folder, 'ade_cadastre', '.partial'))).toEqual([]);
  });

  it('has a stated maximum for every downloaded source', async () => {
    const stated = await Promise.all(sources.map(async ({ id }) => ({ id, ...await loadDownload(id) })));
    const downloaded = stated.filter(({ files: given }) => given !== undefined);
    expect(downloaded.length).toBeGreaterThan(10);
    expect(downloaded.filter(({ largest }) => largest === undefined || largest < 1000 || largest > 5e9).map(({ id }) => id)).toEqual([]);
  });
});

describe('a slow download', () => {
  it('is ended if its body comes byte by byte, and is resumed by the next run', async () => {
    server.routes.set(ROUTE, dribbled(csv()));
    expect((await fetchOne({ now: minutes() })).error).toMatchObject({ code: 'DOWNLOAD_SLOW', exitCode: 3, at: `${server.url}${ROUTE}`, detail: expect.stringMatching(/^expected at least 1048576 bytes in 10 min/) as string });
    const { size } = statSync(join(folder, ID, '.partial', NAME));
    expect(size).toBeGreaterThan(0);
    server.routes.set(ROUTE, served(csv()));
    expect(await fetchOne()).toMatchObject({ error: null, received: csv().length - size });
    expect(readFileSync(join(folder, ID, NAME)).equals(csv())).toBe(true);
  });

  it('is ended and its body is deleted if the download cannot be resumed', async () => {
    server.routes.set(ROUTE, dribbled(csv(), { ranges: false }));
    expect((await fetchOne({ now: minutes() })).error).toMatchObject({ code: 'DOWNLOAD_SLOW' });
    expect(partial()).toEqual([]);
  });

  it('is ended if an error page comes byte by byte', async () => {
    server.routes.set(ROUTE, (request, response) => {
      response.writeHead(403);
      const timer = setInterval(() => (response.destroyed ? clearInterval(timer) : response.write('a')), 1);
      request.socket.once('close', () => clearInterval(timer));
    });
    expect((await fetchOne({ now: minutes() })).error).toMatchObject({ code: 'DOWNLOAD_SLOW' });
  });
});

describe('the disk space of a download', () => {
  /** Simulates free space that shrinks at each reading. Both parameters are in bytes. */
  const shrinking = (from: number, by: number) => {
    let free = from + by;
    return async (): Promise<number> => (free -= by);
  };
  const large = (): Buffer => Buffer.concat(Array.from({ length: Math.ceil((5 * MIB) / csv().length) }, csv));

  it('stops the download when only 64 MiB are left free, and the next run resumes the download', async () => {
    server.routes.set(ROUTE, served(large()));
    const { error } = await fetchOne({ freeBytes: shrinking(SPARE + 6 * MIB, 2 * MIB) });
    expect(error).toMatchObject({ code: 'DISK_FULL', exitCode: 2, detail: 'expected 64 MiB left free, found 64 MiB' });
    const { size } = statSync(join(folder, ID, '.partial', NAME));
    expect(await fetchOne({ freeBytes: async () => SPARE + 6 * MIB })).toMatchObject({ error: null, received: large().length - size });
    expect(readFileSync(join(folder, ID, NAME)).equals(large())).toBe(true);
  });

  it('is freed if the download cannot be continued', async () => {
    server.routes.set(ROUTE, endlessGzip);
    expect((await fetchOne({ freeBytes: shrinking(SPARE + 3 * MIB, MIB) })).error).toMatchObject({ code: 'DISK_FULL' });
    expect(partial()).toEqual([]);
  });

  it('is checked after a part that cannot be continued was removed', async () => {
    server.routes.set(ROUTE, served(csv(), { ranges: false }));
    await mkdir(join(folder, ID, '.partial'), { recursive: true });
    const left = join(folder, ID, '.partial', NAME);
    await promisify(execFile)('truncate', ['-s', '10M', left]);
    const freeBytes = async (): Promise<number> => (existsSync(left) && statSync(left).size > MIB ? 0 : SPARE + MIB);
    expect(await fetchOne({ freeBytes })).toMatchObject({ error: null, outcome: 'new' });
  });

  it('never falls below 64 MiB on a real small disk during a gzip body without end', async (context) => {
    const disk = join(folder, 'disk');
    await mkdir(disk);
    const refused = await run('mount', ['-t', 'tmpfs', '-o', 'size=70m', 'tmpfs', disk]).then(() => null, (error: Error) => error.message.split('\n')[1] ?? error.message);
    if (refused !== null) return context.skip(`this machine cannot create a small disk: ${refused}`);
    try {
      let most = 0;
      server.routes.set(ROUTE, endlessGzip);
      const timer = setInterval(() => (most = Math.max(most, partial(disk).includes(NAME) ? statSync(join(disk, ID, '.partial', NAME), { throwIfNoEntry: false })?.size ?? 0 : 0)), 1);
      const { error } = await fetchOne({ into: disk }).finally(() => clearInterval(timer));
      expect(error).toMatchObject({ code: 'DISK_FULL' });
      expect(most).toBeGreaterThan(0);
      expect(most).toBeLessThanOrEqual(6 * MIB);
      expect(partial(disk)).toEqual([]);
    } finally {
      await run('umount', ['-l', disk]);
    }
  });
});

const byte = (): number => random.below(256);
/** Addresses in private networks, chosen at random in large networks, and names of private hosts. */
const PRIVATE: readonly (readonly [network: string, host: string])[] = [
  ['this host', '0.0.0.0'], ['loopback', `127.${byte()}.${byte()}.${byte()}`], ['10/8', `10.${byte()}.${byte()}.${byte()}`], ['172.16/12', `172.${16 + random.below(16)}.${byte()}.${byte()}`],
  ['192.168/16', `192.168.${byte()}.${byte()}`], ['link-local', `169.254.${byte()}.${byte()}`], ['CGNAT', `100.${64 + random.below(64)}.${byte()}.${byte()}`], ['multicast', `${224 + random.below(16)}.1.2.3`],
  ['broadcast', '255.255.255.255'], ['loopback of IPv6', '[::1]'], ['unspecified of IPv6', '[::]'], ['unique local', `[f${random.pick(['c', 'd'])}${10 + random.below(80)}::${random.below(9) + 1}]`],
  ['link-local of IPv6', `[fe${random.pick(['8', '9', 'a', 'b'])}0::${random.below(9) + 1}]`], ['IPv4 in IPv6', `[::ffff:192.168.${byte()}.${byte()}]`], ['NAT64', `[64:ff9b::10.${byte()}.1.1]`],
  ['6to4', `[2002:7f00:${1 + random.below(9)}::1]`], ['one number', String(0x7f000001)], ['hexadecimal', '0x7f.1'], ['a name of this machine', 'localhost'], ['a name under localhost', 'a.localhost.'],
  ['a name without a dot', 'printer'], ['a name of multicast DNS', 'nas.local'],
];
const PUBLIC = ['1.1.1.1', '11.0.0.1', '100.63.255.255', '100.128.0.1', '172.15.0.1', '172.32.0.1', '192.167.1.1', '169.253.1.1', '2a00:1450:4002::1', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'];

describe('an address', () => {
  it.each(PRIVATE)('is private: %s (%s)', (_network, host) => {
    expect(isPrivateHost(new URL(`http://${host}/`).hostname)).toBe(true);
  });

  it('is public even if it is next to a private network', () => {
    expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([]);
    expect(['www.istat.it', 'mylocalhost.it', 'local.example.org', 'internal.it'].filter(isPrivateHost)).toEqual([]);
  });

  it('is used only if all addresses of its host name are public', async () => {
    const lookup = (addresses: readonly string[]): LookupFunction => (_host, _options, callback) => callback(null, addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })));
    const ask = (addresses: readonly string[]): Promise<unknown> => new Promise((resolve) => publicLookup(lookup(addresses))('name.example.org', { all: true }, (error, found) => resolve(error ?? found)));
    expect(await ask(['1.1.1.1', '2a00:1450:4002::1'])).toEqual([{ address: '1.1.1.1', family: 4 }, { address: '2a00:1450:4002::1', family: 6 }]);
    expect(await ask(['1.1.1.1', random.pick(['10.0.0.1', '::1', '169.254.169.254'])])).toBeInstanceOf(PrivateAddress);
  });
});

describe('a redirect', () => {
  /** Starts a proxy that acts as the internet. Every name leads to the publisher on this machine. */
  async function internet(): Promise<{ readonly proxies: Proxies; readonly asked: string[]; close(): void }> {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url!);
      const { pathname, search } = new URL(request.url!);
      send(`${server.url}${pathname}${search}`, { headers: request.headers }, (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers))).end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const close = (): void => {
      proxy.close();
      proxy.closeAllConnections();
    };
    return { proxies: { http: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, https: null, except: [] }, asked, close };
  }

  it.each(PRIVATE)('is refused from a public name to a private address: %s (%s)', async (_network, host) => {
    const target = await startPublisher();
    const { proxies, asked, close } = await internet();
    try {
      target.routes.set('/secret', served(csv()));
      server.routes.set(ROUTE, status(302, { location: `http://${host}:${new URL(target.url).port}/secret` }));
      const { error } = await fetchOne({ url: `http://publisher.example.org/${ID}?`, proxies });
      expect(error).toMatchObject({ code: 'DOWNLOAD_PRIVATE', exitCode: 3, at: `http://publisher.example.org${ROUTE}` });
      expect([target.seen, asked.filter((url) => url.includes('/secret'))]).toEqual([[], []]);
    } finally {
      close();
      await target.close();
    }
  });

  it('is refused from the configured host to a public name and back to the configured host', async () => {
    const { proxies, close } = await internet();
    try {
      server.routes.set(ROUTE, status(302, { location: 'http://elsewhere.example.org/hop' }));
      server.routes.set('/hop', status(302, { location: `${server.url}/secret` }));
      expect((await fetchOne({ proxies })).error).toMatchObject({ code: 'DOWNLOAD_PRIVATE' });
      expect(server.seen.some(({ url }) => url === '/secret')).toBe(false);
    } finally {
      close();
    }
  });

  it('is refused if the name of its target resolves to a private address at connection time', async () => {
    const lookup: LookupFunction = (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    server.routes.set(ROUTE, status(302, { location: `http://files.example.org:${new URL(server.url).port}/secret` }));
    expect((await fetchOne({ lookup })).error).toMatchObject({ code: 'DOWNLOAD_PRIVATE', detail: expect.stringContaining('files.example.org with the private address 127.0.0.1') as string });
    expect(server.seen.map(({ url }) => url)).toEqual([ROUTE]);
  });

  it('is not needed for a refusal, because a publisher\'s name with a private address is refused, unless the operator configured the host', async () => {
    const lookup: LookupFunction = (_host, { all }, callback) => (all === true ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4));
    server.routes.set(ROUTE, served(csv()));
    expect((await fetchOne({ lookup, url: null })).error).toMatchObject({ code: 'DOWNLOAD_PRIVATE' });
    expect(await fetchOne({ lookup, url: `http://mirror.example.org:${new URL(server.url).port}/${ID}?` })).toMatchObject({ error: null, outcome: 'new' });
  });

  const secret = `made-${random.below(1e9)}`;
  it.each([
    ['an error', status(403, {}, `${secret} refused`), 'DOWNLOAD_REFUSED', /status 403 and \d+ bytes/],
    ['a web page', status(200, {}, `<html><head><title>${secret}</title></head></html>`), 'DOWNLOAD_PAGE', /status 200 and a web page of \d+ bytes/],
    ['a different table', served(Buffer.from(`${secret};b\n1;2\n`.repeat(20))), null, /status 20\d and \d+ bytes|a file that no source reads/],
  ] as const)('fails with an error that does not show the response body if another host answers with %s', async (_what, answer, code, detail) => {
    const other = await startPublisher();
    try {
      other.routes.set('/x', answer);
      server.routes.set(ROUTE, status(302, { location: `${other.url}/x` }));
      const { error } = await fetchOne();
      expect(error?.detail).toMatch(detail);
      if (code !== null) expect(error?.code).toBe(code);
      expect(`${error!.report()} ${String(error!.cause)}`).not.toContain(secret);
      // Without the redirect, the same body is quoted.
      server.routes.set(ROUTE, answer);
      expect((await fetchOne()).error!.report().includes(secret)).toBe(true);
    } finally {
      await other.close();
    }
  });

  it('fails with an error that does not show the response body if another host answers a paged request with a different table', async () => {
    const other = await startPublisher();
    try {
      other.routes.set('/x', inOrder(status(200, {}, `${secret},b\n1,2\n`)));
      server.routes.set('/mic_places?*', status(302, { location: `${other.url}/x` }));
      const { error } = await fetchOne({ source: 'mic_places', url: `${server.url}/mic_places` });
      expect(error).toMatchObject({ code: 'DOWNLOAD_OTHER', detail: expect.stringMatching(/status 200 and \d+ bytes from another host/) as string });
      expect(error!.report()).not.toContain(secret);
    } finally {
      await other.close();
    }
  });
});

describe('a webhook', () => {
  it('is called at a private address only if the operator allows the address or the URL names a private host', async () => {
    const lookup: LookupFunction = (_host, { all }, callback) => (all === true ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4));
    server.routes.set('/hook', status(204));
    const url = (host: string): string => `http://${host}:${new URL(server.url).port}/hook`;
    await expect(postJson({ url: url('chat.example.org'), mayBePrivate: false }, {}, NO_PROXIES, lookup)).rejects.toThrow(/private address 127/);
    expect(server.seen).toEqual([]);
    await postJson({ url: url('chat.example.org'), mayBePrivate: true }, {}, NO_PROXIES, lookup);
    await postJson({ url: url('alerts'), mayBePrivate: false }, {}, NO_PROXIES, lookup);
    await postJson({ url: url('127.0.0.1'), mayBePrivate: false }, {}, NO_PROXIES, lookup);
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'POST', 'POST']);
  });

  it('follows no redirect', async () => {
    server.routes.set('/hook', status(307, { location: `${server.url}/secret` }));
    await expect(postJson({ url: `${server.url}/hook`, mayBePrivate: false }, {}, NO_PROXIES)).rejects.toThrow('status 307');
    expect(server.seen.map(({ url }) => url)).toEqual(['/hook']);
  });
});
