/** Downloads from publishers as they are: each oddity by name, and what comes out. The title of a test says both. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { generate } from 'selfsigned';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROOT, sourceSettings } from '../../pipelines/config.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { describeUnknown } from '../../pipelines/cli/command.ts';
import { retryAfter } from '../../pipelines/fetch/client.ts';
import { fetchRegions, type FetchOptions, type FetchReport, type FileReport } from '../../pipelines/fetch/fetch.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import type { Log } from '../../pipelines/log.ts';
import { childEnvironment } from '../harness/environment.ts';
import { inTurn, served, startPublisher, status, type Manners, type PublisherServer } from '../harness/publishers.ts';
import { syntheticFiles } from '../harness/region.ts';

const MOLISE = findRegion('molise')!;
const NOW = Date.parse('2026-11-23T02:15:00Z');
const PAGE = '<!DOCTYPE html>\n<html><head><title>Servizio non disponibile</title></head><body>…</body></html>';
const LOGIN = '<html><head><title>Accedi</title></head><body><form><input name="p" type="password"></form></body></html>';
const sources = await loadSources();

let files: Awaited<ReturnType<typeof syntheticFiles>>;
let server: PublisherServer;
let folder: string;
/** Seconds that were waited, without passing. */
let waits: number[];
let said: string[];

const bytesOf = (name: string): Buffer => readFileSync(join(files.folder, name));
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const say = (message: string): void => void said.push(message);
const log: Log = { runId: null, info: say, warn: say, progress: say };

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
  /** Address of another server. */
  readonly at?: string;
}

function fetchOf(only: readonly string[] | null, { token, at, ...options }: Choice = {}): Promise<FetchReport> {
  const clock = { now: () => NOW, wait: async (seconds: number) => void waits.push(seconds) };
  return fetchRegions(
    { sources, log, clock, settings: (id) => ({ url: `${at ?? server.url}/${id}?`, token: token ?? null }) },
    { regions: [MOLISE], folder, only, dryRun: false, ...options },
  );
}

/** The cadastre's zip: the one file of its source. */
async function cadastre(options: Choice = {}): Promise<FileReport> {
  const { sources: [report] } = await fetchOf(['ade_cadastre'], options);
  expect(report!.files).toHaveLength(1);
  return report!.files[0]!;
}

const ZIP = '/ade_cadastre?MOLISE.zip';
const zip = (): Buffer => bytesOf('MOLISE.zip');
const path = (source = 'ade_cadastre', name = 'MOLISE.zip'): string => join(folder, source, name);
const sidecar = (): Record<string, unknown> => JSON.parse(readFileSync(join(folder, 'ade_cadastre', '.MOLISE.zip.json'), 'utf8')) as Record<string, unknown>;
/** What is there besides sidecars. */
const visible = (source = 'ade_cadastre'): string[] => readdirSync(join(folder, source)).filter((name) => !name.startsWith('.'));
const partial = (): string[] => readdirSync(join(folder, 'ade_cadastre', '.partial'));

/** Another edition of the same length, whose last byte is of the zip's comment. */
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

describe('a file that comes for the first time', () => {
  it('HEAD is refused (403) → its first bytes say size and version, then it is downloaded, recognised, and its sidecar says sha256 and headers', async () => {
    server.routes.set(ZIP, served(zip()));
    const report = await cadastre();
    expectWhole(report, zip());
    expect(report).toMatchObject({ outcome: 'new', received: zip().length, role: expect.any(String) as string });
    expect(server.seen.map(({ method, headers }) => [method, headers.range])).toEqual([['GET', 'bytes=0-127'], ['GET', undefined]]);
    expect(sidecar()).toMatchObject({ etag: '"1"', bytes: zip().length, sha256: sha256(zip()), license: 'CC-BY-4.0', source: 'ade_cadastre', headers: { 'content-length': String(zip().length) } });
  });

  it('the query is a bare key → it is asked for without a sign of equality', async () => {
    for (const [key, name] of [['STRAD_MOLI', 'stradarioMolise20260602.zip'], ['INDIR_MOLI', 'indirizzarioMolise20260602.zip']]) server.routes.set(`/anncsu_addresses?${key}`, served(bytesOf(name!)));
    const { failures } = await fetchOf(['anncsu_addresses']);
    expect(failures).toEqual([]);
    expect(visible('anncsu_addresses').sort()).toEqual(['INDIR_MOLI.zip', 'STRAD_MOLI.zip']);
  });

  it('301 first → followed, and the sidecar says where it led', async () => {
    server.routes.set(ZIP, status(301, { location: '/elsewhere/MOLISE.zip' }));
    server.routes.set('/elsewhere/MOLISE.zip', served(zip()));
    expectWhole(await cadastre(), zip());
    expect(sidecar()).toMatchObject({ url: `${server.url}${ZIP}`, final_url: `${server.url}/elsewhere/MOLISE.zip` });
  });

  it('a range is ignored (200) → what is sent is taken, and not asked for again', async () => {
    server.routes.set(ZIP, served(zip(), { ranges: false }));
    expectWhole(await cadastre(), zip());
    expect(server.seen).toHaveLength(1);
  });

  it('the page links it under a name with a hash → it is found there and keeps its name', async () => {
    const name = 'classificazione-sismica-aggiornata-maggio-2025.csv';
    server.routes.set('/dpc_seismic', status(200, { 'content-type': 'text/html' }, `<html><body><a href="/other.csv">x</a> <a href='/static/1a2b3c/${name}'>CSV</a></body></html>`));
    server.routes.set(`/static/1a2b3c/${name}`, served(bytesOf(name)));
    const { failures } = await fetchOf(['dpc_seismic']);
    expect([failures, visible('dpc_seismic')]).toEqual([[], [name]]);
  });

  it('this year\'s edition is not there yet (404) → the one before is taken; neither is there → told with the setting for another address', async () => {
    const older = 'Redditi_e_principali_variabili_IRPEF_su_base_comunale_CSV_2023.zip';
    server.routes.set(`/mef_income?${older}`, served(bytesOf(older)));
    const { sources: [report] } = await fetchOf(['mef_income']);
    expect(report!.files.map(({ outcome, name }) => [outcome, name])).toEqual([['new', older], ['failed', 'Redditi_e_principali_variabili_IRPEF_su_base_subcomunale_CSV_2024.zip']]);
    expect(report!.files[1]!.error).toMatchObject({ code: 'DOWNLOAD_MISSING', exitCode: 3, hint: expect.stringContaining('MAPPALE_MEF_INCOME_URL') as string });
  });
});

describe('a file that is there already', () => {
  const twice: readonly (readonly [quirk: string, manners: Manners, requests: number])[] = [
    ['ETag, and the server compares it (304)', {}, 1],
    ['ETag, and the server sends it anyway', { conditional: false }, 1],
    ['Last-Modified and size alone', { etag: null, conditional: false }, 1],
    ['ETag, and a range is ignored', { conditional: false, ranges: false }, 1],
    ['neither ETag nor Last-Modified: a zip\'s end is compared, where its CRCs stand', { etag: null, modified: null }, 2],
  ];
  it.each(twice)('%s → nothing is downloaded', async (_quirk, manners, requests) => {
    server.routes.set(ZIP, served(zip(), manners));
    await cadastre();
    server.seen.length = 0;
    expect(await cadastre()).toMatchObject({ outcome: 'unchanged', received: 0, sha256: sha256(zip()) });
    expect(server.seen).toHaveLength(requests);
  });

  it('nothing says whether it changed → it is downloaded and compared byte for byte', async () => {
    const csv = bytesOf('anagrafica_impianti_attivi.csv');
    server.routes.set('/mimit_fuel?anagrafica_impianti_attivi.csv', served(csv, { etag: null, modified: null, ranges: false, length: null }));
    const once = async (): Promise<FileReport> => (await fetchOf(['mimit_fuel'])).sources[0]!.files[0]!;
    expect((await once()).outcome).toBe('new');
    expect(await once()).toMatchObject({ outcome: 'unchanged', received: csv.length });
  });

  it('issued again with the same size and without a date → the zip\'s end differs, and it is replaced', async () => {
    server.routes.set(ZIP, served(zip(), { etag: null, modified: null }));
    await cadastre();
    server.routes.set(ZIP, served(otherZip(), { etag: null, modified: null }));
    const report = await cadastre();
    expect(report.outcome).toBe('changed');
    expectWhole(report, otherZip());
  });

  it('somebody changed it here → it is downloaded again', async () => {
    server.routes.set(ZIP, served(zip()));
    await cadastre();
    await writeFile(path(), 'half');
    expectWhole(await cadastre(), zip());
  });
});

describe('a download that is cut', () => {
  const half = 5000;
  /** The connection ends when that much of it is on the disk. */
  const cut = { cutAt: half, cutWhen: () => (statSync(path('ade_cadastre', '.partial/MOLISE.zip'), { throwIfNoEntry: false })?.size ?? 0) >= half };

  it('… and the server gives the rest (206, If-Range) → it goes on at that byte', async () => {
    server.routes.set(ZIP, inTurn(served(zip()), served(zip(), cut), served(zip())));
    const report = await cadastre();
    expectWhole(report, zip());
    expect(report.received).toBe(zip().length);
    expect(server.seen.at(-1)!.headers).toMatchObject({ range: `bytes=${half}-`, 'if-range': '"1"' });
    expect(waits).toEqual([2]);
  });

  it('… and the program with it → the next run goes on, and before that nothing looks like the file', async () => {
    server.routes.set(ZIP, inTurn(served(zip()), served(zip(), cut), status(404)));
    expect((await cadastre()).error).toMatchObject({ code: 'DOWNLOAD_REFUSED' });
    expect([visible(), statSync(path('ade_cadastre', '.partial/MOLISE.zip')).size]).toEqual([[], half]);
    server.routes.set(ZIP, served(zip()));
    const report = await cadastre();
    expectWhole(report, zip());
    expect(report.received).toBe(zip().length - half);
  });

  it('… and ranges are ignored → it begins again', async () => {
    server.routes.set(ZIP, inTurn(served(zip(), { ranges: false, ...cut }), served(zip(), { ranges: false })));
    expectWhole(await cadastre(), zip());
    expect(server.seen.at(-1)!.headers.range).toBeUndefined();
  });

  it('… and without ETag and date nobody can say whether the rest is of the same file → it begins again', async () => {
    const manners = { etag: null, modified: null };
    server.routes.set(ZIP, inTurn(served(zip(), manners), served(zip(), { ...manners, ...cut }), served(zip(), manners)));
    expectWhole(await cadastre(), zip());
    expect(server.seen.at(-1)!.headers.range).toBeUndefined();
  });

  it.each([
    ['the server sees it by If-Range (200)', true],
    ['the server sends the rest of the new one (206 with another ETag)', false],
  ])('… and the file changed meanwhile: %s → what came is given up, and it begins again', async (_quirk, ifRange) => {
    server.routes.set(ZIP, inTurn(served(zip()), served(zip(), cut), served(otherZip(), { etag: '"2"', ifRange })));
    expectWhole(await cadastre(), otherZip());
    expect(sidecar()).toMatchObject({ etag: '"2"' });
    expect(said.join('\n')).toMatch(/replaced it meanwhile.*begins again/);
  });

  it('… each time: a body shorter than Content-Length → refused, with both numbers', async () => {
    server.routes.set(ZIP, served(zip().subarray(0, half), { ranges: false, length: zip().length, cutWhen: cut.cutWhen }));
    expect((await cadastre()).error).toMatchObject({ code: 'DOWNLOAD_SHORT', exitCode: 3, detail: expect.stringMatching(new RegExp(`expected ${zip().length} bytes, found (?:0|${half})`)) as string });
    expect(visible()).toEqual([]);
    expect(waits).toEqual([2, 5, 15, 30]);
  });
});

describe('a body that is something else', () => {
  it.each([
    ['a web page with status 200', () => server.routes.set(ZIP, status(200, { 'content-type': 'text/html' }, PAGE)), 'DOWNLOAD_PAGE', /Servizio non disponibile/],
    ['a web page that is called a zip', () => server.routes.set(ZIP, served(Buffer.from(PAGE), { type: 'application/zip' })), 'DOWNLOAD_PAGE', /web page/],
    ['first bytes of a zip, then a web page', () => server.routes.set(ZIP, inTurn(served(zip()), status(200, {}, PAGE))), 'DOWNLOAD_PAGE', /Servizio/],
    ['a redirect to a login', () => {
      server.routes.set(ZIP, status(302, { location: '/idp/login?to=MOLISE.zip' }));
      server.routes.set('/idp/login?to=MOLISE.zip', status(200, {}, '<html><title>Benvenuti</title></html>'));
    }, 'DOWNLOAD_LOGIN', /Benvenuti" at 127/],
    ['a form for a password in its place', () => server.routes.set(ZIP, status(200, {}, LOGIN)), 'DOWNLOAD_LOGIN', /Accedi/],
    ['redirects without an end', () => server.routes.set(ZIP, status(302, { location: ZIP })), 'DOWNLOAD_REDIRECTED', /more than 10/],
    ['status 403 for the file, too', () => server.routes.set(ZIP, status(403, {}, '<html><title>Access Denied</title>')), 'DOWNLOAD_REFUSED', /403, "Access Denied"/],
    ['a file of another source', () => server.routes.set(ZIP, served(bytesOf('italia_ag_002_txt.zip'))), 'DOWNLOAD_OTHER', /ingv_mps04/],
    ['a zip that was cut before it came to the server', () => server.routes.set(ZIP, served(zip().subarray(0, 5000))), 'ZIP_UNREADABLE', /complete zip/],
    ['no byte at all', () => server.routes.set(ZIP, served(Buffer.alloc(0), { ranges: false })), 'FILE_EMPTY', /no byte/],
  ])('%s → refused with words, and what was there stays', async (_what, serve, code, detail) => {
    server.routes.set(ZIP, served(zip(), { etag: '"0"', modified: null }));
    await cadastre();
    serve();
    const { error } = await cadastre();
    expect(error).toMatchObject({ code, exitCode: 3, detail: expect.stringMatching(detail) as string, hint: expect.stringMatching(/\.$/) as string });
    expect(readFileSync(path()).equals(zip())).toBe(true);
    expect(partial()).toEqual([]);
  });
});

describe('a publisher that wants to be left alone', () => {
  it.each([
    ['429 with Retry-After in seconds', { 'retry-after': '7' }, 429, [7]],
    ['503 with Retry-After as a date', { 'retry-after': new Date(NOW + 90_000).toUTCString() }, 503, [90]],
    ['429 without it', {}, 429, [30, 60]],
    ['502 of a broken proxy', {}, 502, [2, 5]],
  ] as const)('%s → waited so long, then downloaded', async (_quirk, headers, code, expected) => {
    const busy = expected.map(() => status(code, headers));
    server.routes.set(ZIP, inTurn(busy[0]!, ...busy.slice(1), served(zip())));
    expectWhole(await cadastre(), zip());
    expect(waits).toEqual(expected);
  });

  it.each([['for an hour', { 'retry-after': '3600' }, []], ['for ever', {}, [30, 60, 120, 240]]])('busy %s → given up, and its other files are not asked for', async (_long, headers, expected) => {
    server.routes.set('/anncsu_addresses?STRAD_MOLI', status(503, headers));
    const { sources: [report], failures } = await fetchOf(['anncsu_addresses']);
    expect(failures).toMatchObject([{ code: 'DOWNLOAD_BUSY', exitCode: 3 }]);
    expect(report!.files).toHaveLength(2);
    expect([waits, new Set(server.seen.map(({ url }) => url)).size]).toEqual([expected, 1]);
  });

  it('several → side by side, and each over one connection at a time', async () => {
    const routes: readonly (readonly [string, string])[] = [
      ['/ade_cadastre?MOLISE.zip', 'MOLISE.zip'], ['/anncsu_addresses?STRAD_MOLI', 'stradarioMolise20260602.zip'], ['/anncsu_addresses?INDIR_MOLI', 'indirizzarioMolise20260602.zip'],
      ['/ingv_mps04?italia_ag_002_txt.zip', 'italia_ag_002_txt.zip'],
    ];
    const sockets = new Map<string, Set<unknown>>();
    // The first answer of each publisher is held until both have been asked.
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

describe('a publisher that wants a token', () => {
  const TILE = 'EGMS_L3_E46N21_100km_U_2020_2024_1.zip';
  const SECRET = 'a+secret/9';

  it('without it → the way to it is explained, and nothing is asked for', async () => {
    const { sources: [report] } = await fetchOf(['egms_vertical']);
    expect(report).toMatchObject({ files: [], byHand: { how: expect.stringContaining('MAPPALE_EGMS_VERTICAL_TOKEN') as string, folder: join(folder, 'egms_vertical') } });
    expect(server.seen).toEqual([]);
  });

  it('with it → tiles come, those that it has none of are no failure, and the token stands nowhere', async () => {
    server.routes.set(`/egms_vertical?${TILE}&id=${encodeURIComponent(SECRET)}`, served(bytesOf(TILE)));
    const report = await fetchOf(['egms_vertical'], { token: SECRET });
    expect(report.failures).toEqual([]);
    expect(Object.fromEntries(report.sources[0]!.files.map(({ name, outcome }) => [name, outcome]))).toMatchObject({ [TILE]: 'new', 'EGMS_L3_E47N20_100km_U_2020_2024_2.zip': 'none' });
    const written = readdirSync(join(folder, 'egms_vertical')).filter((name) => name.endsWith('.json')).map((name) => readFileSync(join(folder, 'egms_vertical', name), 'utf8'));
    expect(written.length).toBeGreaterThan(1);
    for (const text of [JSON.stringify(report), said.join('\n'), ...written]) for (const secret of [SECRET, encodeURIComponent(SECRET)]) expect(text).not.toContain(secret);
  });

  it('with one that has expired (401) → a new one is asked for, after one request', async () => {
    for (const tile of [TILE, TILE.replace('_1.zip', '_2.zip'), 'EGMS_L3_E46N20_100km_U_2020_2024_2.zip']) server.routes.set(`/egms_vertical?${tile}&id=old`, status(401));
    const { failures } = await fetchOf(['egms_vertical'], { token: 'old' });
    expect(failures).toMatchObject([{ code: 'DOWNLOAD_LOGIN', hint: expect.stringContaining('MAPPALE_EGMS_VERTICAL_TOKEN') as string }]);
    expect(JSON.stringify(failures)).not.toContain('id=old');
    expect(server.seen).toHaveLength(1);
  });
});

describe('a dry run', () => {
  it('asks for first bytes only, says size and licence, and leaves no file', async () => {
    server.routes.set(ZIP, served(zip()));
    const report = await fetchOf(['ade_cadastre'], { dryRun: true });
    expect(report.sources).toMatchObject([{ license: 'CC-BY-4.0', files: [{ outcome: 'wanted', bytes: zip().length, received: 0 }] }]);
    expect(server.seen.map(({ headers }) => headers.range)).toEqual(['bytes=0-127']);
    expect(readdirSync(folder)).toEqual([]);
  });
});

it('a file that was half downloaded by other means is refused with the command that mends it', async () => {
  const half = join(folder, 'MOLISE.zip');
  await writeFile(half, zip().subarray(0, 5000));
  const { broken } = await locate([folder], sources, { get: () => undefined, set() {} });
  expect(broken).toMatchObject([{ error: { code: 'ZIP_UNREADABLE', mend: 'npx mappale fetch REGION --sources ade_cadastre' } }]);
  expect(describeUnknown(['data/MOLISE.zip.crdownload'])[0]).toContain('mappale fetch REGION');
});

describe('the command', () => {
  it('a certificate that nobody vouches for → refused, with what to set; with that it comes, over an address of the environment, and a second run downloads nothing', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], { keySize: 2048, extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }] });
    const secure = await startPublisher({ key, cert });
    try {
      secure.routes.set('/mirror/MOLISE.zip', served(zip()));
      const { failures } = await fetchOf(['ade_cadastre'], { at: secure.url });
      expect([failures[0], waits, secure.seen]).toEqual([expect.objectContaining({ code: 'DOWNLOAD_CERTIFICATE', hint: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string }), [], []]);
      const trusted = join(folder, 'trusted.pem');
      await writeFile(trusted, cert);
      const data = join(folder, 'data');
      const run = async (): Promise<string> => (await promisify(execFile)(
        process.execPath, [join(ROOT, 'pipelines/mappale.mjs'), 'fetch', 'molise', '--sources', 'ade_cadastre,clc_land_cover', '--data', data],
        { env: childEnvironment({ MAPPALE_ADE_CADASTRE_URL: `${secure.url}/mirror/`, NODE_EXTRA_CA_CERTS: trusted }) },
      )).stdout;
      expect(await run()).toMatch(/ade_cadastre +CC-BY-4\.0 +10\.5 kB +downloaded: MOLISE\.zip\n\n10\.5 kB downloaded/);
      const again = await run();
      expect(again).toMatch(/ade_cadastre +CC-BY-4\.0 +10\.5 kB +unchanged: MOLISE\.zip\n\nnothing was downloaded/);
      expect(again).toMatch(/clc_land_cover \(.*\)\n +log in at https:.*\n +Put it into .*clc_land_cover\n/);
      expect(again).toMatch(/npx mappale load-region molise --data /);
    } finally {
      await secure.close();
    }
  });

  it('two at a time into one folder → the second one is refused', async () => {
    let second: Promise<unknown> = Promise.resolve();
    server.routes.set(ZIP, (request, response) => {
      second = expect(fetchOf(['ade_cadastre'])).rejects.toMatchObject({ code: 'FETCH_RUNNING', exitCode: 7 });
      void second.finally(() => served(zip())(request, response));
      server.routes.set(ZIP, served(zip()));
    });
    expectWhole(await cadastre(), zip());
    await second;
  });

  it('a source that there is none of, and a setting that is no address → usage errors', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(fetchOf(['ade_cadastre'], { folder: join(folder, 'file') })).rejects.toMatchObject({ code: 'FOLDER_UNWRITABLE', exitCode: 2 });
    await expect(fetchOf(['nobody_nothing'])).rejects.toMatchObject({ code: 'SOURCE_UNKNOWN', exitCode: 2 });
    expect(() => sourceSettings('ade_cadastre', { MAPPALE_ADE_CADASTRE_URL: 'ftp://mirror/' })).toThrow('MAPPALE_ADE_CADASTRE_URL');
    expect(sourceSettings('ade_cadastre', { MAPPALE_ADE_CADASTRE_URL: '' })).toEqual({ url: null, token: null });
  });
});

it('Retry-After is read in both its forms, and what is neither says nothing', () => {
  expect(['120', ' 0 ', new Date(NOW + 1500).toUTCString(), new Date(NOW - 5000).toUTCString(), 'soon', undefined].map((header) => retryAfter(header, NOW))).toEqual([120, 0, 1, 0, null, null]);
});
