/** Tests a file that is downloaded in pages. A server on this machine acts as the SPARQL endpoint for places of culture. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SILENT } from '../../pipelines/log.ts';
import { fetchRegions, type FetchReport, type FileReport } from '../../pipelines/fetch/fetch.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { inOrder, served, startPublisher, status, type Handler, type PublisherServer } from '../harness/publishers.ts';
import { testEnvironment } from '../harness/environment.ts';
import { ANSWER } from '../../sources/mic_places/schema.ts';

const MOLISE = findRegion('molise')!;
const ID = 'mic_places';
const ROUTE = `/${ID}?*`;
const HEADER = ANSWER.query.map((name) => `"${name}"`).join(',');
const FIREWALL = '<html><head><title>Request Rejected</title></head><body>Blocked by the Web Application Firewall. Support ID 0.</body></html>';
const DAY_1 = Date.parse('2026-11-23T02:15:00Z');
const sources = await loadSources();

let server: PublisherServer;
let folder: string;
let waits: number[];
let notes: string[];
let now: number;

beforeEach(async () => {
  server = await startPublisher();
  folder = await mkdtemp(join(tmpdir(), 'mappale-pages-'));
  [waits, notes, now] = [[], [], DAY_1];
});
afterEach(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

/** Returns a CSV row of a page. Only the columns in `more` and a few others have values. */
const row = (id: string, more: Readonly<Partial<Record<(typeof ANSWER.query)[number], string>>> = {}): string => ANSWER.query
  .map((column) => ({ id, etichetta: `Luogo ${id}`, comune: 'Campo Finto', provincia: 'Campobasso', ...more } as Record<string, string>)[column] ?? '')
  .map((value) => (value === '' ? '' : `"${value}"`)).join(',');

const page = (rows: readonly string[]): string => `${[HEADER, ...rows].join('\n')}\n`;

/** Returns the offset of the requested page, from the query in its URL. */
function askedOffset(url: string): number {
  const query = new URL(url, 'http://localhost').searchParams.get('query') ?? '';
  return Number(/\boffset\s+(\d+)/i.exec(query)?.[1] ?? Number.NaN);
}

/** Serves a table like the endpoint, with at most `limit` rows from the requested offset. */
const endpoint = (rows: readonly string[], limit: number): Handler => ({ url = '' }, response) => {
  const offset = askedOffset(url);
  response.writeHead(200, { 'content-type': 'text/csv' }).end(page(rows.slice(offset, offset + limit)));
};

async function fetchPlaces(dryRun = false): Promise<{ report: FileReport; all: FetchReport }> {
  const log = { ...SILENT, info: (text: string) => void notes.push(text), warn: (text: string) => void notes.push(text) };
  const clock = { now: () => now, wait: async (seconds: number) => void waits.push(seconds) };
  const settings = () => ({ url: `${server.url}/${ID}`, login: null, token: null });
  const all = await fetchRegions({ sources, log, clock, settings }, { regions: [MOLISE], folder, only: [ID], dryRun });
  return { report: all.sources[0]!.files[0]!, all };
}

const place = (): string => join(folder, ID);
const visible = (): string[] => (existsSync(place()) ? readdirSync(place()).filter((name) => !name.startsWith('.')) : []);
const partial = (): string[] => (existsSync(join(place(), '.partial')) ? readdirSync(join(place(), '.partial')) : []);
const lines = (name: string): string[] => readFileSync(join(place(), name), 'utf8').trimEnd().split('\n');

describe('a paged file', () => {
  it('is requested page by page without sorting and without an Accept header, merged and sorted by URI, and recognised by its source', async () => {
    const { seed } = testEnvironment();
    const [random, say] = [randomOf('fetch-pages', seed), `MAPPALE_TEST_SEED=${seed}`];
    const [limit, count] = [20 + random.below(80), 150 + random.below(200)];
    const ids = Array.from({ length: count }, (_, index) => `http://example.org/luoghi/${1000 + index}`);
    const twice = ids.filter(() => random.below(4) === 0);
    const rows = [...ids, ...twice].map((id) => [random.below(1_000_000), row(id, { disciplina: `D${random.below(9)}` })] as const).sort(([a], [b]) => a - b).map(([, text]) => text);
    server.routes.set(ROUTE, endpoint(rows, limit));
    const { report } = await fetchPlaces();
    expect(report, say).toMatchObject({ outcome: 'new', error: null, name: 'luoghi_della_cultura_20261123.csv', role: 'places', vintage: '2026-11-23' });
    const [, ...written] = lines(report.name);
    expect(written.map((line) => /^"([^"]*)"/.exec(line)?.[1]), say).toEqual([...ids].sort());
    const queries = server.seen.map(({ url }) => new URL(url, 'http://localhost').searchParams.get('query') ?? '');
    expect(queries.map((query) => /order\s+by/i.test(query))).toEqual(queries.map(() => false));
    expect(queries[0]).toMatch(/\blimit 2000\b/);
    const ends = [...Array.from({ length: Math.ceil(rows.length / limit) }, (_, index) => index * limit), rows.length];
    expect(server.seen.map(({ url }) => askedOffset(url)), say).toEqual(ends);
    expect(server.seen.map(({ headers }) => [headers.accept, headers.range])).toEqual(server.seen.map(() => [undefined, undefined]));
    const survey = await locate([folder], sources, { get: () => undefined, set() {} });
    expect(survey.broken).toEqual([]);
    expect(survey.releases.map(({ source, vintage, complete }) => [source.id, vintage, complete])).toEqual([[ID, '2026-11-23', true]]);
  });

  it('keeps the row with the most values for a repeated place, for any order of the rows', async () => {
    const rows = [row('urn:1'), row('urn:1', { tipo: 'Museo', disciplina: 'Storia' }), row('urn:1', { tipo: 'Museo', disciplina: 'Arte' })];
    for (const order of [rows, [...rows].reverse()]) {
      server.routes.set(ROUTE, endpoint(order, 2));
      const { report } = await fetchPlaces();
      expect(lines(report.name).slice(1)).toEqual([rows[2]]);
    }
  });

  it('keeps the file of an earlier day if the same places come in a different order', async () => {
    const rows = Array.from({ length: 30 }, (_, index) => row(`urn:${100 + index}`));
    server.routes.set(ROUTE, endpoint(rows, 7));
    const first = (await fetchPlaces()).report;
    now += 86_400_000;
    server.routes.set(ROUTE, endpoint([...rows].reverse(), 11));
    expect((await fetchPlaces()).report).toMatchObject({ outcome: 'unchanged', name: first.name, sha256: first.sha256 });
    expect([visible(), partial()]).toEqual([[first.name], []]);
    server.routes.set(ROUTE, endpoint([...rows, row('urn:new')], 11));
    expect((await fetchPlaces()).report).toMatchObject({ outcome: 'new', name: 'luoghi_della_cultura_20261124.csv' });
    // The endpoint serves the first content again. The last file has different content, so the download is new.
    now += 86_400_000;
    server.routes.set(ROUTE, endpoint(rows, 7));
    expect((await fetchPlaces()).report).toMatchObject({ outcome: 'new', name: 'luoghi_della_cultura_20261125.csv', sha256: first.sha256 });
  });

  it('ends with a warning at a page that repeats earlier rows', async () => {
    const rows = [row('urn:1'), row('urn:2')];
    server.routes.set(ROUTE, status(200, {}, page(rows)));
    const { report } = await fetchPlaces();
    expect(report.error).toBeNull();
    expect(lines(report.name)).toHaveLength(3);
    expect(server.seen).toHaveLength(2);
    expect(notes.join('\n')).toMatch(/page 2.*no new records/);
  });

  it('ends at an empty page', async () => {
    server.routes.set(ROUTE, inOrder(status(200, {}, page([row('urn:1')])), status(200, {}, '')));
    expect((await fetchPlaces()).report).toMatchObject({ outcome: 'new', error: null });
  });

  it('fails if pages never end, and keeps nothing', async () => {
    let next = 0;
    server.routes.set(ROUTE, (_request, response) => {
      next += 1;
      response.writeHead(200).end(page([row(`urn:${next}`)]));
    });
    expect((await fetchPlaces()).report.error).toMatchObject({ code: 'DOWNLOAD_ENDLESS', exitCode: 3 });
    expect(server.seen).toHaveLength(100);
    expect([visible(), partial()]).toEqual([[], []]);
  });

  it('is complete if a page is cut and requested again', async () => {
    const rows = Array.from({ length: 40 }, (_, index) => row(`urn:${100 + index}`));
    const whole = endpoint(rows, 15);
    let broken = 0;
    server.routes.set(ROUTE, (request, response) => {
      if (askedOffset(request.url ?? '') !== 15 || broken > 0) return whole(request, response);
      broken += 1;
      const body = Buffer.from(page(rows.slice(15, 30)));
      served(body.subarray(0, 40), { ranges: false, length: body.length })(request, response);
    });
    const { report } = await fetchPlaces();
    expect([report.error, broken, lines(report.name).length]).toEqual([null, 1, 41]);
    expect(waits).toContain(2);
  });

  it('is not requested in a dry run', async () => {
    server.routes.set(ROUTE, endpoint([row('urn:1')], 5));
    expect((await fetchPlaces(true)).report).toMatchObject({ outcome: 'wanted', bytes: null });
    expect([server.seen.length, visible()]).toEqual([0, []]);
  });
});

describe('an invalid page', () => {
  const good = status(200, {}, page([row('urn:1'), row('urn:2')]));
  it.each([
    ['the firewall\'s page with status 200', status(200, { 'content-type': 'text/html' }, FIREWALL), 'DOWNLOAD_FIREWALL', /Request Rejected/],
    ['the firewall\'s response as plain text', status(200, { 'content-type': 'text/csv' }, 'This request was stopped by the Web Application Firewall'), 'DOWNLOAD_FIREWALL', /web application firewall/],
    ['a different web page with status 200', status(200, {}, '<!DOCTYPE html><title>Manutenzione</title>'), 'DOWNLOAD_PAGE', /Manutenzione/],
    ['a page that starts with a script', status(200, {}, '<script>location.reload()</script>'), 'DOWNLOAD_PAGE', /web page/],
    ['status 406', status(406, {}, 'Not Acceptable'), 'DOWNLOAD_REFUSED', /406, "Not Acceptable"/],
    ['status 500 each time', status(500, {}, 'Virtuoso 22023 Error'), 'DOWNLOAD_BUSY', /500/],
    ['other columns', status(200, {}, '"s","p"\n"urn:1","x"\n'), 'DOWNLOAD_OTHER', /columns|column/],
    ['a row with a missing column', status(200, {}, `${HEADER}\n${row('urn:3').replace(',', '')}\n`), 'DOWNLOAD_OTHER', /.+/],
    ['a body that is cut each time', served(Buffer.from(page([row('urn:3')])).subarray(0, 50), { ranges: false, length: 5000 }), 'DOWNLOAD_SHORT', /whole page/],
  ] as const)('causes an error that states the page number, and no part of the file is left: %s', async (_what, bad, code, detail) => {
    for (const [number, handlers] of [[1, [bad]], [2, [good, bad]]] as const) {
      server.routes.set(ROUTE, inOrder(handlers[0], ...handlers.slice(1)));
      const { report, all } = await fetchPlaces();
      expect(report.error).toMatchObject({ code, exitCode: 3, at: expect.stringContaining(`page ${number}`) as string, detail: expect.stringMatching(detail) as string });
      expect(all.failures).toHaveLength(1);
      expect([visible(), partial()]).toEqual([[], []]);
    }
  });

  it('does not replace the file of an earlier run', async () => {
    server.routes.set(ROUTE, endpoint([row('urn:1')], 5));
    const { report: { name } } = await fetchPlaces();
    const before = lines(name);
    server.routes.set(ROUTE, inOrder(good, status(200, {}, FIREWALL)));
    expect((await fetchPlaces()).report.error?.code).toBe('DOWNLOAD_FIREWALL');
    expect([visible(), lines(name)]).toEqual([[name], before]);
  });

  it('without rows is rejected if it is the first page', async () => {
    server.routes.set(ROUTE, status(200, {}, `${HEADER}\n`));
    expect((await fetchPlaces()).report.error).toMatchObject({ code: 'DOWNLOAD_OTHER', detail: expect.stringMatching(/found none/) as string });
    expect(visible()).toEqual([]);
  });
});

describe('a firewall page in the data folder', () => {
  it.each([['luoghi_della_cultura_20261101.csv', FIREWALL], ['datasetLuoghiDellaCultura.csv', 'Web Application Firewall: request blocked'], ['STRAD_MOLI.zip', FIREWALL]])('is refused: %s', async (name, text) => {
    await writeFile(join(folder, name), text);
    const { broken } = await locate([folder], sources, { get: () => undefined, set() {} });
    expect(broken.map(({ error: { code, detail } }) => [code, /Request Rejected|Web Application Firewall/.test(detail ?? '')])).toEqual([['FILE_IS_PAGE', true]]);
  });
});
