/** Tests the changelog over HTTP and as files. `test/pipelines/changes.test.ts` tests which changes are listed. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { SaxesParser } from 'saxes';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cutOff } from '../../pipelines/build/count-changes.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { writeChanges, type ChangeFormat, type Changes } from '../../pipelines/deliver/change-files.ts';
import type { ChangeLine } from '../../pipelines/deliver/changes.ts';
import { describeDatabase } from '../harness/database.ts';
import { regionService, violationsOf, type Answered } from './harness.ts';

const MOLISE = findRegion(14)!;

interface Meta {
  readonly count: number;
  readonly publication: number;
  readonly cursor: string | null;
  readonly licenses: readonly unknown[];
}

it.each([
  [['2025-06-30'], '2025-06-30'], [['20250630'], '2025-06-30'], [['2025_1'], '2025-06-30'], [['2015_1', '2025_2'], '2025-12-31'], [['2018_2022'], '2022-12-31'], [['basi_2021'], '2021-12-31'],
  [['2023', '2024'], '2024-12-31'], [['0000'], null], [['1.1'], null], [[], null],
  [['2026-06-31'], null], [['20260229'], null], [['2026-06-31', '2025-12-31'], '2025-12-31'], [['2024-02-29'], '2024-02-29'],
])('the last day that the vintages %j cover is %s', (vintages, day) => {
  expect(cutOff(vintages)).toBe(day);
});

describeDatabase('the changelog', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  let key: string;
  let folder: string;
  let fids: readonly number[];

  const ask = async (path: string): Promise<Answered> => {
    const answered = await service.ask(path, { key });
    expect(violationsOf(path, answered)).toEqual([]);
    return answered;
  };
  const linesOf = ({ body }: Answered): ChangeLine[] => body!['data'] as ChangeLine[];
  const metaOf = ({ body }: Answered): Meta => body!['meta'] as Meta;
  const refusalOf = async (query: string): Promise<unknown[]> => {
    const { status, body } = await ask(`/changes?${query}`);
    const details = body!['details'] as Record<string, unknown> | undefined;
    return [status, body!['error'], details?.['parameter'] ?? details?.['kept_since']];
  };

  beforeAll(async () => {
    service = await regionService(engine);
    key = await service.token(['parcels:read']);
    folder = await mkdtemp(join(tmpdir(), 'mappale-changes-'));
    fids = (await service.database.query<{ fid: number }>('select fid from core.parcel order by fid')).map(({ fid }) => fid);
  });
  afterAll(async () => {
    await service?.close();
    await rm(folder, { recursive: true, force: true });
  });

  it('lists the parcels of the first publication page by page', async () => {
    const lines: ChangeLine[] = [];
    let query = 'since=0';
    for (let pages = 0; pages < 20; pages += 1) {
      const page = await ask(`/changes?region=molise&${query}&limit=90`);
      expect(linesOf(page).length).toBeLessThanOrEqual(90);
      expect(metaOf(page)).toMatchObject({ region: 14, count: linesOf(page).length, publication: expect.any(Number) as number });
      expect(metaOf(page).licenses.length).toBeGreaterThan(5);
      lines.push(...linesOf(page));
      if (metaOf(page).cursor === null) break;
      query = `cursor=${metaOf(page).cursor}`;
    }
    expect(lines.map(({ fid, op }) => [fid, op])).toEqual(fids.map((fid) => [fid, 'add']));
    const [{ publication }] = lines as [ChangeLine];
    expect(linesOf(await ask(`/changes?region=Molise&since=${publication}`))).toEqual([]);
    const { columns } = lines[5]!;
    expect(columns).toMatchObject({ fid: fids[5], region: MOLISE.name, geometry: { type: 'MultiPolygon' } });
  });

  it('refuses invalid parameters, unknown regions and publications whose changes are no longer kept', async () => {
    expect(await refusalOf('region=molise')).toEqual([400, 'INVALID_PARAMS', 'since']);
    expect(await refusalOf('region=molise&since=0&cursor=1')).toEqual([400, 'INVALID_PARAMS', 'cursor']);
    expect(await refusalOf('region=molise&since=999999999')).toEqual([400, 'INVALID_PARAMS', 'since']);
    expect(await refusalOf('region=molise&cursor=999999999.1400000000')).toEqual([400, 'INVALID_PARAMS', 'cursor']);
    expect(await refusalOf('region=molise&since=2026-02-30')).toEqual([400, 'INVALID_PARAMS', 'since']);
    expect(await refusalOf('region=molise&since=99999999')).toEqual([400, 'INVALID_PARAMS', 'since']);
    expect(await refusalOf('region=molise&since=0&limit=1001')).toEqual([400, 'INVALID_PARAMS', 'limit']);
    expect(await refusalOf('region=atlantis&since=0')).toEqual([400, 'INVALID_PARAMS', 'region']);
    expect((await refusalOf('region=lazio&since=0')).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
    await service.database.query("update ledger.swap set kept_from = happened_at + interval '1 day' where unit_code = 14");
    const [{ day }] = await service.database.query<{ day: string }>(
      "select ((kept_from at time zone 'Europe/Rome')::date + 1)::text as day from ledger.swap where unit_code = 14",
    ) as [{ day: string }];
    expect(await refusalOf('region=molise&since=0')).toEqual([410, 'GONE', day]);
    expect(await refusalOf('region=molise&since=2020-01-01')).toEqual([410, 'GONE', day]);
    expect(linesOf(await ask(`/changes?region=molise&since=${day}`))).toEqual([]);
    const { body } = await ask('/changes?region=molise&since=0');
    const { kept_after: keptAfter } = body!['details'] as { kept_after: number };
    expect(body!['message']).toContain(`changes after publication ${keptAfter}, or from ${day} on`);
    expect(linesOf(await ask(`/changes?region=molise&since=${keptAfter}`))).toEqual([]);
    await expect(write('jsonl')).rejects.toMatchObject({ code: 'CHANGES_NOT_KEPT', exitCode: 2, detail: expect.stringContaining(`publication ${keptAfter}`) as string });
    await service.database.query('update ledger.swap set kept_from = null');
  });

  it('returns 501 if the database keeps no history', async () => {
    const [{ body }] = await service.database.query<{ body: string }>("select pg_get_functiondef('api.keeps_history()'::regprocedure) as body") as [{ body: string }];
    await service.database.query('create or replace function api.keeps_history() returns bool language sql stable as $$ select false $$');
    try {
      expect((await refusalOf('region=molise&since=0')).slice(0, 2)).toEqual([501, 'NO_HISTORY']);
      await expect(write('jsonl')).rejects.toMatchObject({ code: 'NO_HISTORY', exitCode: 2 });
    } finally {
      await service.database.query(body);
    }
  });

  it('counts the changed parcels of a publication by comune, and lists the sources, each with the last day that its data covers', async () => {
    const [{ publication }] = await service.database.query<{ publication: number }>('select swap_id as publication from ledger.swap where unit_code = 14') as [{ publication: number }];
    const { body } = await ask(`/changes/publications/${publication}`);
    const parcels = await service.database.query<{ comune: string; added: number }>('select belfiore as comune, count(*)::int4 as added from core.parcel group by belfiore order by belfiore');
    expect(body!['data']).toEqual(parcels.map((each) => ({ region: 14, ...each, removed: 0, changed: 0, unchanged: 0 })));
    expect(body!['meta']).toMatchObject({ publication, region: 14, kind: 'publication', comuni: parcels.length, counts: { added: fids.length, removed: 0, changed: 0, unchanged: 0 } });
    const { sources } = body!['meta'] as { sources: Record<string, string | null> };
    expect(sources).toMatchObject({ ade_cadastre: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string, omi_quotations: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) as string });
    expect((await ask(`/changes/publications/${publication}?region=lazio`)).status).toBe(404);
    expect((await ask('/changes/publications/999999999')).status).toBe(404);
    expect((await ask('/changes/publications/first')).status).toBe(400);
  });

  it('serves a feed of publications that needs no key and contains no parcel data', async () => {
    const { status, headers, text } = await service.ask('/changes/feed.atom');
    expect([status, headers['content-type']]).toEqual([200, 'application/atom+xml; charset=utf-8']);
    const elements: string[] = [];
    const parser = new SaxesParser({ xmlns: true });
    parser.on('opentag', ({ local, uri }) => elements.push(`${uri === 'http://www.w3.org/2005/Atom' ? '' : uri}${local}`));
    parser.write(text).close();
    const [{ n }] = await service.database.query<{ n: number }>('select count(*)::int4 as n from ledger.swap') as [{ n: number }];
    expect(elements.filter((name) => name === 'entry').length).toBe(n);
    expect(text).toContain(`Parcels: ${fids.length} added, 0 removed, 0 changed, 0 unchanged.`);
    expect(text).toMatch(/Sources until: ade_cadastre \d{4}-\d\d-\d\d, /);
    expect(fids.filter((fid) => text.includes(String(fid)))).toEqual([]);
    const tag = headers['etag']!;
    expect((await service.ask('/changes/feed.atom', { headers: { 'if-none-match': tag } })).status).toBe(304);
    expect((await service.ask('/changes/feed.atom?region=molise')).text).toContain('region=molise');
    expect((await service.ask('/changes/feed.atom?region=atlantis')).status).toBe(400);
  });

  const write = (format: ChangeFormat, verbatim = false): Promise<Changes> => (
    writeChanges(service.database, { region: MOLISE, from: { publication: 0, fid: null }, format, out: join(folder, `changes.${format}`), createdBy: 'mappale test', verbatim })
  );

  it('writes the same changes as JSON lines, CSV and Parquet, next to files with the licences and the publications', async () => {
    const written = await write('jsonl');
    expect(written).toMatchObject({ added: fids.length, removed: 0, changed: 0 });
    const lines = (await readFile(written.out, 'utf8')).trimEnd().split('\n').map((line) => JSON.parse(line) as ChangeLine);
    expect(lines.map(({ fid }) => fid)).toEqual(fids);
    expect(Object.keys(lines[0]!)).toEqual(['publication', 'published_at', 'op', 'fid', 'cadastral_reference', 'comune', 'columns']);
    const texts = lines.map(({ columns, ...line }) => ({ ...line, columns: JSON.stringify(columns) }));
    const inCsv = await write('csv');
    const csv = parse<Record<string, string>>(await readFile(inCsv.out, 'utf8'), { columns: true });
    expect(csv).toEqual(texts.map((line) => Object.fromEntries(Object.entries(line).map(([name, value]) => [name, String(value)]))));
    const { out, licenses } = await write('parquet');
    const duck = await (await DuckDBInstance.create(':memory:')).connect();
    const read = await duck.runAndReadAll(`select * from read_parquet('${out}')`);
    expect(read.getRowObjectsJS()).toEqual(texts);
    duck.closeSync();
    const served = metaOf(await ask('/changes?region=molise&since=0&limit=1')).licenses;
    expect(served.length).toBeGreaterThan(5);
    for (const file of [written.licenses, inCsv.licenses, licenses]) expect([file, JSON.parse(await readFile(file, 'utf8'))]).toEqual([file, served]);
    expect(new Set([written.licenses, inCsv.licenses, licenses]).size).toBe(3);
    const published = JSON.parse(await readFile(written.publications, 'utf8')) as { data: { added: number }[]; meta: { region: number } }[];
    expect(published.map(({ data, meta: { region } }) => [region, data.reduce((sum, { added }) => sum + added, 0)])).toEqual([[14, fids.length]]);
  });

  it('guards text in CSV against spreadsheet formulas, unless verbatim text is requested', async () => {
    await service.database.query("update core.parcel set reference = '=' || reference where fid = $1", [fids[0]]);
    const first = async (verbatim: boolean): Promise<string> => parse<Record<string, string>>(await readFile((await write('csv', verbatim)).out, 'utf8'), { columns: true })[0]!['cadastral_reference']!;
    expect((await first(false)).slice(0, 2)).toBe('\'=');
    expect((await first(true)).slice(0, 1)).toBe('=');
  });
});
