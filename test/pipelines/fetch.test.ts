/** Tests downloads from publishers with all their peculiarities. The name of each test states the result and the peculiarity. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, readFileSync, statSync, watch } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { generate } from 'selfsigned';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readProxies, ROOT, sourceSettings, type Proxies } from '../../pipelines/config.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { describeUnknown } from '../../cli/command.ts';
import { retryAfter } from '../../pipelines/fetch/client.ts';
import { fetchRegions, type FetchOptions, type FetchReport, type FileReport } from '../../pipelines/fetch/fetch.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import type { Log } from '../../pipelines/log.ts';
import { childEnvironment } from '../harness/environment.ts';
import { inOrder, served, startPublisher, status, type Manners, type PublisherServer } from '../harness/publishers.ts';
import { syntheticFiles } from '../harness/region.ts';

const MOLISE = findRegion('molise')!;
const NOW = Date.parse('2026-11-23T02:15:00Z');
const PAGE = '<!DOCTYPE html>\n<html><head><title>Servizio non disponibile</title></head><body>…</body></html>';
const LOGIN = '<html><head><title>Accedi</title></head><body><form><input name="p" type="password"></form></body></html>';
const sources = await loadSources();

let files: Awaited<ReturnType<typeof syntheticFiles>>;
let server: PublisherServer;
let folder: string;
/** Seconds that the program asked to wait. The test's clock returns at once. */
let waits: number[];
let said: string[];

const bytesOf = (name: string): Buffer => readFileSync(join(files.folder, name));
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const say = (message: string): void => void said.push(message);
const log: Log = { runId: null, debug: say, info: say, warn: say, progress: say };

beforeAll(async () => {
  files = await syntheticFiles(40, 4, { comuni: 2, only: ['ade_cadastre', 'anncsu_addresses', 'mimit_fuel', 'dpc_seismic', 'egms_vertical', 'mef_income', 'ingv_mps04'] });
});
beforeEach(async () => {
  server = await startPublisher();
  folder = await mkdtemp(join(tmpdir(), 'mappale-fetch-'));
  [waits, said] = [[], []];
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});
afterAll(async () => {
  await files?.remove();
});

interface Choice extends Partial<Omit<FetchOptions, 'only'>> {
  readonly token?: string;
  readonly login?: string;
  /** Address of a different server, below which each source has its own path. */
  readonly at?: string;
  /** Address that is set for the source, instead of the usual address. */
  readonly url?: string;
  readonly proxies?: Proxies;
}

function fetchOf(only: readonly string[] | null, { token, login, at, url, proxies, ...options }: Choice = {}): Promise<FetchReport> {
  const clock = { now: () => NOW, wait: async (seconds: number) => void waits.push(seconds) };
  return fetchRegions(
    { sources, log, clock, settings: (id) => ({ url: url ?? `${at ?? server.url}/${id}?`, login: login ?? null, token: token ?? null }), ...(proxies === undefined ? {} : { proxies }) },
    { regions: [MOLISE], folder, only, dryRun: false, ...options },
  );
}

/** Downloads the cadastre's zip, the only file of its source. */
async function cadastre(options: Choice = {}): Promise<FileReport> {
  const { sources: [report] } = await fetchOf(['ade_cadastre'], options);
  expect(report!.files).toHaveLength(1);
  return report!.files[0]!;
}

const ZIP = '/ade_cadastre?MOLISE.zip';
const zip = (): Buffer => bytesOf('MOLISE.zip');
const path = (source = 'ade_cadastre', name = 'MOLISE.zip'): string => join(folder, source, name);
const sidecar = (): Record<string, unknown> => JSON.parse(readFileSync(join(folder, 'ade_cadastre', '.MOLISE.zip.json'), 'utf8')) as Record<string, unknown>;
/** Returns the names of the files in a source's download folder, except hidden files such as sidecars. */
const visible = (source = 'ade_cadastre'): string[] => readdirSync(join(folder, source)).filter((name) => !name.startsWith('.'));
const partial = (): string[] => readdirSync(join(folder, 'ade_cadastre', '.partial'));

/** Returns a different edition of the zip with the same length. Only the modification date of the last entry in the central directory differs. */
function otherZip(): Buffer {
  const same = Buffer.from(zip());
  const central = same.lastIndexOf(Buffer.from('PK\u0001\u0002', 'latin1'));
  same.writeUInt16LE((same.readUInt16LE(central + 14) + 1) % 0x8000 | 0x21, central + 14);
  return same;
}

function expectWhole(report: FileReport, bytes: Buffer): void {
  expect(report).toMatchObject({ error: null, bytes: bytes.length, sha256: sha256(bytes) });
  expect(readFileSync(path()).equals(bytes)).toBe(true);
  expect(partial()).toEqual([]);
}

it('the partial file of an earlier version is deleted before its sidecar names the new version, so that a killed process leaves no mixture', async () => {
  server.routes.set(ZIP, served(zip()));
  await mkdir(join(folder, 'ade_cadastre', '.partial'), { recursive: true });
  const [part, facts] = ['.partial/MOLISE.zip', '.partial/.MOLISE.zip.json'].map((name) => path('ade_cadastre', name)) as [string, string];
  await writeFile(part, otherZip().subarray(0, 1000));
  await writeFile(facts, JSON.stringify({ url: `${server.url}${ZIP}`, etag: '"0"', last_modified: null, bytes: zip().length }));
  const changed: (string | null)[] = [];
  const watcher = watch(join(folder, 'ade_cadastre', '.partial'), (_event, name) => void changed.push(name));
  expectWhole(await cadastre(), zip());
  await expect.poll(() => changed.includes('.MOLISE.zip.json')).toBe(true);
  watcher.close();
  expect(changed.filter((name) => name === 'MOLISE.zip' || name === '.MOLISE.zip.json')[0]).toBe('MOLISE.zip');
});

describe('the first download of a file', () => {
  it('reads size and version from a range request instead of HEAD, recognises the file, and writes sha256 and headers to its sidecar', async () => {
    server.routes.set(ZIP, served(zip()));
    const report = await cadastre();
    expectWhole(report, zip());
    expect(report).toMatchObject({ outcome: 'new', received: zip().length, role: expect.any(String) as string });
    expect(server.seen.map(({ method, headers }) => [method, headers.range])).toEqual([['GET', 'bytes=0-127'], ['GET', undefined]]);
    expect(sidecar()).toMatchObject({ etag: '"1"', bytes: zip().length, sha256: sha256(zip()), license: 'CC-BY-4.0', source: 'ade_cadastre', headers: { 'content-length': String(zip().length) } });
  });

  it('requests a query that is only a key without an equals sign', async () => {
    for (const [key, name] of [['STRAD_MOLI', 'stradarioMolise20260602.zip'], ['INDIR_MOLI', 'indirizzarioMolise20260602.zip']]) server.routes.set(`/anncsu_addresses?${key}`, served(bytesOf(name!)));
    const { failures } = await fetchOf(['anncsu_addresses']);
    expect(failures).toEqual([]);
    expect(visible('anncsu_addresses').sort()).toEqual(['INDIR_MOLI.zip', 'STRAD_MOLI.zip']);
  });

  it('follows a 301 redirect, and records the final address in the sidecar', async () => {
    server.routes.set(ZIP, status(301, { location: '/elsewhere/MOLISE.zip' }));
    server.routes.set('/elsewhere/MOLISE.zip', served(zip()));
    expectWhole(await cadastre(), zip());
    expect(sidecar()).toMatchObject({ url: `${server.url}${ZIP}`, final_url: `${server.url}/elsewhere/MOLISE.zip` });
  });

  it('uses the body of the response if the server ignores the range (200), without a second request', async () => {
    server.routes.set(ZIP, served(zip(), { ranges: false }));
    expectWhole(await cadastre(), zip());
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    ['compressed with gzip', 'gzip', gzipSync], ['compressed with deflate', 'deflate', deflateSync], ['compressed with br', 'br', brotliCompressSync],
    ['declared as gzip, but not compressed', 'gzip', (bytes: Buffer) => bytes],
  ] as const)('stores the uncompressed content of a body that is %s', async (_what, encoding, pack) => {
    const csv = bytesOf('anagrafica_impianti_attivi.csv');
    const packed = pack(csv);
    const head = { 'content-encoding': encoding, etag: '"1"' };
    server.routes.set('/mimit_fuel?anagrafica_impianti_attivi.csv', ({ headers: { range } }, response) => {
      if (range === undefined) response.writeHead(200, { ...head, 'content-length': packed.length }).end(packed);
      else response.writeHead(206, { ...head, 'content-range': `bytes 0-127/${packed.length}` }).end(packed.subarray(0, 128));
    });
    const { sources: [report] } = await fetchOf(['mimit_fuel']);
    expect(report!.files).toMatchObject([{ error: null, bytes: csv.length, sha256: sha256(csv) }]);
  });

  it('reads only the beginning if the response to a range request has far more bytes', async () => {
    let sent = 0;
    server.routes.set(ZIP, inOrder((_request, response) => {
      response.writeHead(206, { 'content-range': `bytes 0-127/${zip().length}` });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(1 << 20)) && sent < 64) sent += 1;
      };
      response.on('drain', more);
      more();
    }, served(zip())));
    expectWhole(await cadastre(), zip());
    expect(sent).toBeLessThan(64);
  });

  it('sends a cookie back to the host that set the cookie', async () => {
    server.routes.set(ZIP, (request, response) => {
      if (request.headers.cookie === 'seen=1') return served(zip())(request, response);
      response.writeHead(302, { location: ZIP, 'set-cookie': 'seen=1; Path=/; HttpOnly' }).end();
    });
    expectWhole(await cadastre(), zip());
  });

  it('finds a file whose link on the page has a hash in the path, and keeps the name', async () => {
    const name = 'classificazione-sismica-aggiornata-maggio-2025.csv';
    server.routes.set('/dpc_seismic', status(200, { 'content-type': 'text/html' }, `<html><body><a href="/other.csv">x</a> <a href='/static/1a2b3c/${name}'>CSV</a></body></html>`));
    server.routes.set(`/static/1a2b3c/${name}`, served(bytesOf(name)));
    const { failures } = await fetchOf(['dpc_seismic']);
    expect([failures, visible('dpc_seismic')]).toEqual([[], [name]]);
  });

  it('takes the previous edition if this year\'s is missing (404), and reports the setting for a different address if both are missing', async () => {
    const older = 'Redditi_e_principali_variabili_IRPEF_su_base_comunale_CSV_2023.zip';
    server.routes.set(`/mef_income?${older}`, served(bytesOf(older)));
    const { sources: [report] } = await fetchOf(['mef_income']);
    expect(report!.files.map(({ outcome, name }) => [outcome, name])).toEqual([['new', older], ['failed', 'Redditi_e_principali_variabili_IRPEF_su_base_subcomunale_CSV_2024.zip']]);
    expect(report!.files[1]!.error).toMatchObject({ code: 'DOWNLOAD_MISSING', exitCode: 3, hint: expect.stringContaining('MAPPALE_MEF_INCOME_URL') as string });
  });
});

describe('a file that is already in the folder', () => {
  const twice: readonly (readonly [quirk: string, manners: Manners, requests: number])[] = [
    ['ETag, and the server compares it (304)', {}, 1],
    ['ETag, and the server sends the file anyway', { conditional: false }, 1],
    ['only Last-Modified and size', { etag: null, conditional: false }, 1],
    ['ETag, and a range is ignored', { conditional: false, ranges: false }, 1],
    ['neither ETag nor Last-Modified: the zip\'s end, with its CRCs, is compared', { etag: null, modified: null }, 2],
  ];
  it.each(twice)('is not downloaded again: %s', async (_quirk, manners, requests) => {
    server.routes.set(ZIP, served(zip(), manners));
    await cadastre();
    server.seen.length = 0;
    expect(await cadastre()).toMatchObject({ outcome: 'unchanged', received: 0, sha256: sha256(zip()) });
    expect(server.seen).toHaveLength(requests);
  });

  it('is downloaded and compared byte by byte if the server sends no version', async () => {
    const csv = bytesOf('anagrafica_impianti_attivi.csv');
    server.routes.set('/mimit_fuel?anagrafica_impianti_attivi.csv', served(csv, { etag: null, modified: null, ranges: false, length: null }));
    const once = async (): Promise<FileReport> => (await fetchOf(['mimit_fuel'])).sources[0]!.files[0]!;
    expect((await once()).outcome).toBe('new');
    expect(await once()).toMatchObject({ outcome: 'unchanged', received: csv.length });
  });

  it('is replaced if a new issue has the same size and no date but a different end of the zip', async () => {
    server.routes.set(ZIP, served(zip(), { etag: null, modified: null }));
    await cadastre();
    server.routes.set(ZIP, served(otherZip(), { etag: null, modified: null }));
    const report = await cadastre();
    expect(report.outcome).toBe('changed');
    expectWhole(report, otherZip());
  });

  it('is compared by bytes if a different server reports the same metadata for a different file', async () => {
    server.routes.set(ZIP, served(zip()));
    await cadastre();
    const mirror = await startPublisher();
    try {
      mirror.routes.set(ZIP, served(otherZip()));
      expectWhole(await cadastre({ at: mirror.url }), otherZip());
      const before = mirror.seen.length;
      expect(await cadastre({ at: mirror.url })).toMatchObject({ outcome: 'unchanged', received: 0 });
      expect(mirror.seen).toHaveLength(before + 1);
    } finally {
      await mirror.close();
    }
  });

  it('is downloaded again if it changed locally', async () => {
    server.routes.set(ZIP, served(zip()));
    await cadastre();
    await writeFile(path(), 'half');
    expectWhole(await cadastre(), zip());
  });
});

describe('an interrupted download', () => {
  const half = 5000;
  /** Ends the connection after 5,000 bytes, about half of the file, when these bytes are on the disk. */
  const cut = { cutAt: half, cutWhen: () => (statSync(path('ade_cadastre', '.partial/MOLISE.zip'), { throwIfNoEntry: false })?.size ?? 0) >= half };

  it('continues at the same byte if the server sends the rest (206, If-Range)', async () => {
    server.routes.set(ZIP, inOrder(served(zip()), served(zip(), cut), served(zip())));
    const report = await cadastre();
    expectWhole(report, zip());
    expect(report.received).toBe(zip().length);
    expect(server.seen.at(-1)!.headers).toMatchObject({ range: `bytes=${half}-`, 'if-range': '"1"' });
    expect(waits).toEqual([2]);
  });

  it('is continued by the next run if the retry is refused, and until then no file with its name is visible', async () => {
    server.routes.set(ZIP, inOrder(served(zip()), served(zip(), cut), status(404)));
    expect((await cadastre()).error).toMatchObject({ code: 'DOWNLOAD_REFUSED' });
    expect([visible(), statSync(path('ade_cadastre', '.partial/MOLISE.zip')).size]).toEqual([[], half]);
    server.routes.set(ZIP, served(zip()));
    const report = await cadastre();
    expectWhole(report, zip());
    expect(report.received).toBe(zip().length - half);
  });

  it('starts again if the server ignores ranges', async () => {
    server.routes.set(ZIP, inOrder(served(zip(), { ranges: false, ...cut }), served(zip(), { ranges: false })));
    expectWhole(await cadastre(), zip());
    expect(server.seen.at(-1)!.headers.range).toBeUndefined();
  });

  it('starts again without ETag and date, because the rest may belong to a different file', async () => {
    const manners = { etag: null, modified: null };
    server.routes.set(ZIP, inOrder(served(zip(), manners), served(zip(), { ...manners, ...cut }), served(zip(), manners)));
    expectWhole(await cadastre(), zip());
    expect(server.seen.at(-1)!.headers.range).toBeUndefined();
  });

  it.each([
    ['the server detects the change by If-Range (200)', true],
    ['the server sends the rest of the new file (206 with a different ETag)', false],
  ])('drops the received part and starts again if the file changed meanwhile: %s', async (_quirk, ifRange) => {
    server.routes.set(ZIP, inOrder(served(zip()), served(zip(), cut), served(otherZip(), { etag: '"2"', ifRange })));
    expectWhole(await cadastre(), otherZip());
    expect(sidecar()).toMatchObject({ etag: '"2"' });
    expect(said.join('\n')).toMatch(/has replaced the file.*starts again/);
  });

  it('fails and reports both lengths if each body is shorter than Content-Length', async () => {
    server.routes.set(ZIP, served(zip().subarray(0, half), { ranges: false, length: zip().length, cutWhen: cut.cutWhen }));
    expect((await cadastre()).error).toMatchObject({ code: 'DOWNLOAD_SHORT', exitCode: 3, detail: expect.stringMatching(new RegExp(`expected ${zip().length} bytes, found (?:0|${half})`)) as string });
    expect(visible()).toEqual([]);
    expect(waits).toEqual([2, 5, 15, 30]);
  });
});

describe('a wrong body', () => {
  it.each([
    ['a web page with status 200', () => server.routes.set(ZIP, status(200, { 'content-type': 'text/html' }, PAGE)), 'DOWNLOAD_PAGE', /Servizio non disponibile/],
    ['a web page that is declared as a zip', () => server.routes.set(ZIP, served(Buffer.from(PAGE), { type: 'application/zip' })), 'DOWNLOAD_PAGE', /web page/],
    ['the first bytes of a zip, then a web page', () => server.routes.set(ZIP, inOrder(served(zip()), status(200, {}, PAGE))), 'DOWNLOAD_PAGE', /Servizio/],
    ['a redirect to a login', () => {
      server.routes.set(ZIP, status(302, { location: '/idp/login?to=MOLISE.zip' }));
      server.routes.set('/idp/login?to=MOLISE.zip', status(200, {}, '<html><title>Benvenuti</title></html>'));
    }, 'DOWNLOAD_LOGIN', /Benvenuti" at 127/],
    ['a password form instead of the file', () => server.routes.set(ZIP, status(200, {}, LOGIN)), 'DOWNLOAD_LOGIN', /Accedi/],
    ['redirects without an end', () => server.routes.set(ZIP, status(302, { location: ZIP })), 'DOWNLOAD_REDIRECTED', /more than 10/],
    ['a redirect to a file address', () => server.routes.set(ZIP, status(302, { location: 'file:///etc/passwd' })), 'DOWNLOAD_REDIRECTED', /file:\/\/\/etc/],
    ['a redirect to an invalid address', () => server.routes.set(ZIP, status(302, { location: 'http://' })), 'DOWNLOAD_REDIRECTED', /redirect to "http:\/\/"/],
    ['an error as JSON, with status 200', () => server.routes.set(ZIP, status(200, {}, '{"error":"troppe richieste"}')), 'ZIP_UNREADABLE', /troppe richieste/],
    ['status 403 for every request', () => server.routes.set(ZIP, status(403, {}, '<html><title>Access Denied</title>')), 'DOWNLOAD_REFUSED', /403, "Access Denied"/],
    ['a file of a different source', () => server.routes.set(ZIP, served(bytesOf('italia_ag_002_txt.zip'))), 'DOWNLOAD_OTHER', /ingv_mps04/],
    ['a zip that was already cut on the server', () => server.routes.set(ZIP, served(zip().subarray(0, 5000))), 'ZIP_UNREADABLE', /complete zip/],
    ['an empty body', () => server.routes.set(ZIP, served(Buffer.alloc(0), { ranges: false })), 'FILE_EMPTY', /no byte/],
  ])('is rejected with a message, and the existing file is kept: %s', async (_what, serve, code, detail) => {
    server.routes.set(ZIP, served(zip(), { etag: '"0"', modified: null }));
    await cadastre();
    serve();
    const { error } = await cadastre();
    expect(error).toMatchObject({ code, exitCode: 3, detail: expect.stringMatching(detail) as string, hint: expect.stringMatching(/\.$/) as string });
    expect(readFileSync(path()).equals(zip())).toBe(true);
    expect(partial()).toEqual([]);
  });
});

describe('a publisher that limits requests', () => {
  it.each([
    ['429 with Retry-After in seconds', { 'retry-after': '7' }, 429, [7]],
    ['503 with Retry-After as a date', { date: new Date(NOW).toUTCString(), 'retry-after': new Date(NOW + 90_000).toUTCString() }, 503, [90]],
    ['429 without Retry-After', {}, 429, [30, 60]],
    ['502 of a broken proxy', {}, 502, [2, 5]],
    ['429 with Retry-After 0', { 'retry-after': '0' }, 429, [2, 5, 15]],
    ['429 with an invalid Retry-After', { 'retry-after': '-5' }, 429, [30]],
  ] as const)('gets the request again after the expected wait: %s', async (_quirk, headers, code, expected) => {
    const busy = expected.map(() => status(code, headers));
    server.routes.set(ZIP, inOrder(busy[0]!, ...busy.slice(1), served(zip())));
    expectWhole(await cadastre(), zip());
    expect(waits).toEqual(expected);
  });

  it.each([['for an hour', { 'retry-after': '3600' }, []], ['for longer than any date', { 'retry-after': '99999999999999999' }, []], ['for ever', {}, [30, 60, 120, 240]]])('gets no request for its other files if it stays busy %s', async (_long, headers, expected) => {
    server.routes.set('/anncsu_addresses?STRAD_MOLI', status(503, headers));
    const { sources: [report], failures } = await fetchOf(['anncsu_addresses']);
    expect(failures).toMatchObject([{ code: 'DOWNLOAD_BUSY', exitCode: 3 }]);
    expect(report!.files).toHaveLength(2);
    expect([waits, new Set(server.seen.map(({ url }) => url)).size]).toEqual([expected, 1]);
  });

  it('gets one connection at a time, while other publishers are contacted in parallel', async () => {
    const routes: readonly (readonly [string, string])[] = [
      ['/ade_cadastre?MOLISE.zip', 'MOLISE.zip'], ['/anncsu_addresses?STRAD_MOLI', 'stradarioMolise20260602.zip'], ['/anncsu_addresses?INDIR_MOLI', 'indirizzarioMolise20260602.zip'],
      ['/ingv_mps04?italia_ag_002_txt.zip', 'italia_ag_002_txt.zip'],
    ];
    const sockets = new Map<string, Set<unknown>>();
    // The first response of each publisher is delayed until both publishers have received a request.
    const held: (() => void)[] = [];
    for (const [route, name] of routes) {
      const publisher = route.startsWith('/ingv') ? 'INGV' : 'Agenzia delle Entrate';
      server.routes.set(route, (request, response) => {
        const answer = (): void => served(bytesOf(name))(request, response);
        const before = sockets.get(publisher);
        sockets.set(publisher, (before ?? new Set()).add(request.socket));
        if (before !== undefined) return answer();
        held.push(answer);
        if (held.length === 2) for (const each of held) each();
      });
    }
    const { failures } = await fetchOf(['ade_cadastre', 'anncsu_addresses', 'ingv_mps04']);
    expect([failures, Object.fromEntries([...sockets].map(([publisher, used]) => [publisher, used.size]))]).toEqual([[], { INGV: 1, 'Agenzia delle Entrate': 1 }]);
  });
});

describe('a publisher that requires a token', () => {
  const TILE = 'EGMS_L3_E46N21_100km_U_2020_2024_1.zip';
  const SECRET = 'a+secret/9';

  it('is not contacted without a token, and the report names the setting for the token', async () => {
    const { sources: [report] } = await fetchOf(['egms_vertical']);
    expect(report).toMatchObject({ files: [], byHand: { how: expect.stringContaining('MAPPALE_EGMS_VERTICAL_TOKEN') as string, folder: join(folder, 'egms_vertical') } });
    expect(server.seen).toEqual([]);
  });

  it('gets the token, and the program downloads tiles, accepts missing tiles and never writes the token', async () => {
    server.routes.set(`/egms_vertical?${TILE}&id=${encodeURIComponent(SECRET)}`, served(bytesOf(TILE)));
    const report = await fetchOf(['egms_vertical'], { token: SECRET });
    expect(report.failures).toEqual([]);
    expect(Object.fromEntries(report.sources[0]!.files.map(({ name, outcome }) => [name, outcome]))).toMatchObject({ [TILE]: 'new', 'EGMS_L3_E47N20_100km_U_2020_2024_2.zip': 'none' });
    const written = readdirSync(join(folder, 'egms_vertical')).filter((name) => name.endsWith('.json')).map((name) => readFileSync(join(folder, 'egms_vertical', name), 'utf8'));
    expect(written.length).toBeGreaterThan(1);
    for (const text of [JSON.stringify(report), said.join('\n'), ...written]) for (const secret of [SECRET, encodeURIComponent(SECRET)]) expect(text).not.toContain(secret);
  });

  it.each([
    ['in the body of a refusal', (request: string) => status(400, {}, `no such download: ${request}`)],
    ['in the title of a page', () => status(200, {}, `<html><title>${SECRET} has expired</title>`)],
    ['in a redirect, with a different encoding', () => status(302, { location: `ftp://login/${encodeURIComponent(SECRET).toLowerCase()}` })],
    ['in a body that is not a tile', () => status(200, {}, JSON.stringify({ error: SECRET }).replaceAll('/', '\\/'))],
  ])('cannot make the program show the token if the response contains the token %s', async (_where, answer) => {
    const path = `/egms_vertical?EGMS_L3_E46N20_100km_U_2020_2024_2.zip&id=${encodeURIComponent(SECRET)}`;
    server.routes.set(path, answer(path));
    const { failures } = await fetchOf(['egms_vertical'], { token: SECRET });
    const reported = [...failures.map((failure) => failure.report()), ...said].join('\n');
    expect(reported).toContain('<secret>');
    for (const shown of [SECRET, encodeURIComponent(SECRET), encodeURIComponent(SECRET).toLowerCase(), SECRET.replaceAll('/', '\\/')]) expect(reported).not.toContain(shown);
  });

  it('causes no failure if it has no tiles of the region, and the time of the requests is recorded', async () => {
    const report = await fetchOf(['egms_vertical'], { token: SECRET });
    expect([report.failures, new Set(report.sources[0]!.files.map(({ outcome }) => outcome))]).toEqual([[], new Set(['none'])]);
    expect(JSON.parse(readFileSync(join(folder, 'egms_vertical', '.asked.json'), 'utf8'))).toEqual({ molise: new Date(NOW).toISOString() });
  });

  it('is contacted once with an expired token (401), and the error asks for a new token', async () => {
    for (const tile of [TILE, TILE.replace('_1.zip', '_2.zip'), 'EGMS_L3_E46N20_100km_U_2020_2024_2.zip']) server.routes.set(`/egms_vertical?${tile}&id=old`, status(401));
    const { failures } = await fetchOf(['egms_vertical'], { token: 'old' });
    expect(failures).toMatchObject([{ code: 'DOWNLOAD_LOGIN', hint: expect.stringContaining('MAPPALE_EGMS_VERTICAL_TOKEN') as string }]);
    expect(JSON.stringify(failures)).not.toContain('id=old');
    expect(server.seen).toHaveLength(1);
  });
});

describe('a dry run of fetch', () => {
  it('requests only the first bytes of each file, reports size and licence, and leaves no file', async () => {
    server.routes.set(ZIP, served(zip()));
    const report = await fetchOf(['ade_cadastre'], { dryRun: true });
    expect(report.sources).toMatchObject([{ license: 'CC-BY-4.0', files: [{ outcome: 'wanted', bytes: zip().length, received: 0 }] }]);
    expect(server.seen.map(({ headers }) => headers.range)).toEqual(['bytes=0-127']);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a configured address', () => {
  it.each([
    ['a server', '', '/MOLISE.zip'], ['a folder with a slash', '/mirror/', '/mirror/MOLISE.zip'], ['a folder without a slash', '/mirror', '/mirror/MOLISE.zip'],
    ['a query', '/get.php?dataset=', '/get.php?dataset=MOLISE.zip'], ['the file itself', '/mirror/molise%20settembre.zip', '/mirror/molise%20settembre.zip'],
  ])('leads to the file if the configured address is %s', async (_kind, set, asked) => {
    server.routes.set(asked, served(zip()));
    expectWhole(await cadastre({ url: `${server.url}${set}` }), zip());
  });

  it('is used directly for a file that a page usually links, and the file keeps its name', async () => {
    const name = 'classificazione-sismica-aggiornata-maggio-2025.csv';
    server.routes.set(`/${name}`, served(bytesOf(name)));
    expect((await fetchOf(['dpc_seismic'], { url: `${server.url}/${name}` })).failures).toEqual([]);
    expect(visible('dpc_seismic')).toEqual([name]);
  });

  it('causes a usage error with the correct setting if it names one file but the source has several', async () => {
    await expect(fetchOf(['anncsu_addresses'], { url: `${server.url}/mirror/STRAD_MOLI.zip` }))
      .rejects.toMatchObject({ code: 'CONFIG_UNKNOWN', fix: `export MAPPALE_ANNCSU_ADDRESSES_URL=${server.url}/mirror/` });
  });

  it('may contain user and password, which are sent only to that server and never written', async () => {
    const { url, login } = sourceSettings('ade_cadastre', { MAPPALE_ADE_CADASTRE_URL: `${server.url.replace('//', '//me:s%2Fcret@')}/mirror/` });
    expect([url, login]).toEqual([`${server.url}/mirror/`, 'me:s/cret']);
    const other = await startPublisher();
    try {
      other.routes.set('/cdn/MOLISE.zip', served(zip()));
      server.routes.set('/mirror/MOLISE.zip', ({ headers: { authorization } }, response) => void (authorization === `Basic ${Buffer.from('me:s/cret').toString('base64')}`
        ? response.writeHead(302, { location: `${other.url}/cdn/MOLISE.zip` }) : response.writeHead(401)).end());
      expectWhole(await cadastre({ url: url!, login: login! }), zip());
      expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    } finally {
      await other.close();
    }
    expect(JSON.stringify(sidecar())).not.toContain('cret');
    expect(() => sourceSettings('ade_cadastre', { MAPPALE_ADE_CADASTRE_URL: 'ftp://me:secret@mirror/' })).toThrow(expect.objectContaining({ detail: expect.not.stringContaining('secret') as string }));
  });
});

it('an incomplete file that another program downloaded is rejected with the command that fixes it', async () => {
  const half = join(folder, 'MOLISE.zip');
  await writeFile(half, zip().subarray(0, 5000));
  const { broken } = await locate([folder], sources, { get: () => undefined, set() {} });
  expect(broken).toMatchObject([{ error: { code: 'ZIP_UNREADABLE', fix: 'npx mappale fetch REGION --sources ade_cadastre' } }]);
  const coming = join(folder, 'anagrafica_impianti_attivi.csv.crdownload');
  await writeFile(coming, bytesOf('anagrafica_impianti_attivi.csv'));
  await writeFile(join(folder, 'desktop.ini'), '[.ShellClassInfo]');
  expect((await locate([folder], sources, { get: () => undefined, set() {} })).unknown).toEqual([coming]);
  expect(describeUnknown(['data/MOLISE.zip.crdownload'])[0]).toContain('mappale fetch REGION');
  expect(describeUnknown(['data/anagrafica.csv.unfinished-77.csv'])[0]).toContain('mappale fetch REGION');
});

describe('downloads through a proxy', () => {
  /** Starts a proxy that forwards requests to the publisher. Without the login, a request gets status 407. A null login allows all requests. */
  async function startProxy(login: string | null): Promise<{ readonly port: number; readonly asked: string[]; close(): Promise<void> }> {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url!);
      if (login !== null && request.headers['proxy-authorization'] !== `Basic ${Buffer.from(login).toString('base64')}`) return void response.writeHead(407).end();
      const { pathname, search } = new URL(request.url!);
      send(`${server.url}${pathname}${search}`, { headers: request.headers }, (answer) => answer.pipe(response.writeHead(answer.statusCode!, answer.headers))).end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    return {
      asked, port: (proxy.address() as AddressInfo).port,
      close: async () => {
        proxy.closeAllConnections();
        await new Promise((resolve) => proxy.close(resolve));
      },
    };
  }

  it('use the proxy except for this machine and the hosts in no_proxy, report a rejected login, and never write the login', async () => {
    server.routes.set(ZIP, served(zip()));
    const proxy = await startProxy('me:s@cret');
    try {
      const proxies = readProxies({ HTTP_PROXY: `me:s%40cret@127.0.0.1:${proxy.port}`, no_proxy: 'intranet.example, .local' });
      expect([proxies.http, proxies.except]).toEqual([`http://me:s%40cret@127.0.0.1:${proxy.port}`, ['intranet.example', '.local']]);
      expectWhole(await cadastre({ at: 'http://publisher.invalid', proxies }), zip());
      expect(new Set(proxy.asked)).toEqual(new Set([`http://publisher.invalid${ZIP}`]));
      const before = proxy.asked.length;
      await cadastre({ proxies });
      expect(proxy.asked).toHaveLength(before);
      // Without the proxy, the name of the publisher does not exist.
      for (const listed of ['publisher.invalid', 'intranet.example .invalid', '*']) {
        const direct = await cadastre({ at: 'http://publisher.invalid', proxies: { ...proxies, except: readProxies({ NO_PROXY: listed }).except } });
        expect([listed, direct.error?.code, proxy.asked.length]).toEqual([listed, 'DOWNLOAD_UNREACHABLE', before]);
      }
      const { error } = await cadastre({ at: 'http://publisher.invalid', proxies: readProxies({ http_proxy: `http://me:wrong@127.0.0.1:${proxy.port}` }) });
      expect(error).toMatchObject({ code: 'DOWNLOAD_PROXY', fix: 'export HTTP_PROXY=http://USER:PASSWORD@PROXY:PORT' });
      expect([error!.report(), ...said].join('\n')).not.toMatch(/wrong|cret/);
    } finally {
      await proxy.close();
    }
    expect(() => readProxies({ HTTPS_PROXY: 'http://me:100%@proxy:x' })).toThrow(expect.objectContaining({ code: 'CONFIG_UNKNOWN', detail: expect.not.stringContaining('100%') as string }));
  });
});

describe('mappale fetch', () => {
  it('prints the setting to add for an untrusted certificate, and downloads the file once with that setting', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048, extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }] });
    const secure = await startPublisher({ key, cert });
    try {
      secure.routes.set('/mirror/MOLISE.zip', served(zip()));
      const { failures } = await fetchOf(['ade_cadastre'], { at: secure.url });
      expect([failures[0], waits, secure.seen]).toEqual([expect.objectContaining({ code: 'DOWNLOAD_CERTIFICATE', fix: 'export NODE_EXTRA_CA_CERTS=FILE.pem' }), [], []]);
      const trusted = join(folder, 'trusted.pem');
      await writeFile(trusted, cert);
      const data = join(folder, 'data');
      const run = async (): Promise<string> => (await promisify(execFile)(
        process.execPath, [join(ROOT, 'pipelines/mappale.mjs'), 'fetch', 'molise', '--sources', 'ade_cadastre,clc_land_cover', '--data', data],
        { env: childEnvironment({ MAPPALE_ADE_CADASTRE_URL: `${secure.url}/mirror/`, NODE_EXTRA_CA_CERTS: trusted }) },
      )).stdout;
      expect(await run()).toMatch(/ade_cadastre +CC-BY-4\.0 +10\.5 kB +downloaded: MOLISE\.zip\n\n10\.5 kB downloaded/);
      const again = await run();
      expect(again).toMatch(/ade_cadastre +CC-BY-4\.0 +10\.5 kB +unchanged: MOLISE\.zip\n\nno file was downloaded/);
      expect(again).toMatch(/clc_land_cover \(.*\)\n +log in at https:.*\n +Save to: .*clc_land_cover\n/);
      expect(again).toMatch(/npx mappale load-region molise --data /);
    } finally {
      await secure.close();
    }
  });

  it('exits after several failures with the code of highest priority, not with the code of the first failure', async () => {
    server.routes.set('/mirror/MOLISE.zip', served(zip()));
    await writeFile(join(folder, 'ade_cadastre'), '');
    const ended = await promisify(execFile)(
      process.execPath, [join(ROOT, 'pipelines/mappale.mjs'), 'fetch', 'molise', '--sources', 'ade_cadastre,mef_income', '--data', folder, '--json'],
      { env: childEnvironment({ MAPPALE_ADE_CADASTRE_URL: `${server.url}/mirror/`, MAPPALE_MEF_INCOME_URL: `${server.url}/mirror/` }) },
    ).catch((error: unknown) => error) as { readonly code?: number; readonly stdout: string };
    const { failures } = JSON.parse(ended.stdout) as { readonly failures: readonly { readonly error: string }[] };
    expect([failures.map(({ error }) => error), ended.code]).toEqual([['FOLDER_UNWRITABLE', 'DOWNLOAD_MISSING', 'DOWNLOAD_MISSING'], 3]);
  });

  it('refuses a second run into the same folder at the same time', async () => {
    let second: Promise<unknown> = Promise.resolve();
    server.routes.set(ZIP, (request, response) => {
      second = expect(fetchOf(['ade_cadastre'])).rejects.toMatchObject({ code: 'FETCH_RUNNING', exitCode: 7 });
      void second.finally(() => served(zip())(request, response));
      server.routes.set(ZIP, served(zip()));
    });
    expectWhole(await cadastre(), zip());
    await second;
  });

  it('reports usage errors for a folder that is a file, an unknown source and a setting that is not an address', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(fetchOf(['ade_cadastre'], { folder: join(folder, 'file') })).rejects.toMatchObject({ code: 'FOLDER_UNWRITABLE', exitCode: 2 });
    await expect(fetchOf(['nobody_nothing'])).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN', exitCode: 2 });
    expect(() => sourceSettings('ade_cadastre', { MAPPALE_ADE_CADASTRE_URL: 'ftp://mirror/' })).toThrow('MAPPALE_ADE_CADASTRE_URL');
    expect(sourceSettings('ade_cadastre', { MAPPALE_ADE_CADASTRE_URL: '' })).toEqual({ url: null, login: null, token: null });
  });
});

it('Retry-After is read in both forms with the sender\'s clock, and other values are ignored', () => {
  expect(['120', ' 0 ', new Date(NOW + 1500).toUTCString(), new Date(NOW - 5000).toUTCString(), 'soon', '-5', '1.5', '5, 10', undefined].map((header) => retryAfter(header, undefined, NOW)))
    .toEqual([120, 0, 1, 0, null, null, null, null, null]);
  const slow = 3_600_000;
  expect(retryAfter(new Date(NOW + 60_000).toUTCString(), new Date(NOW).toUTCString(), NOW - slow)).toBe(60);
});
