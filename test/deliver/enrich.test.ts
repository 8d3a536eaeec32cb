/** Tests that an enriched table keeps its rows. Each row gets the API's values for its place, or the reason why values are missing. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { search } from '../../api/geocoding.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { columnsOf, parseSections } from '../../pipelines/deliver/columns.ts';
import { enrichFile, type EnrichedFile } from '../../pipelines/deliver/enrich-file.ts';
import { exportRegion } from '../../pipelines/deliver/export.ts';
import { FORMATS } from '../../pipelines/deliver/formats.ts';
import type { Key } from '../../pipelines/deliver/keys.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import type { Reader } from '../../pipelines/db/reader.ts';
import { SILENT } from '../../pipelines/log.ts';
import { describeEngines } from '../harness/database.ts';
import { loadedRegion, REGIONS } from '../harness/loaded-region.ts';
import { queryRecords } from '../harness/records.ts';

type Row = Readonly<Record<string, string>>;

const LF = '\n';

describeEngines('enriching a table', (engine) => {
  let folder: string;
  let database: Database;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mappale-enrich-'));
    database = await engine.openDatabase(await loadedRegion(engine, ...REGIONS.usual));
    // A comune of an unpublished region. The lists and boundaries of all Italy contain the comune.
    await database.query("insert into core.comune (belfiore, istat_code, name, province_code, province_name, region_code) values ('X998', '058998', 'Fuoriporta', '258', 'Roma', 12)");
    await database.query(
      `insert into layer.boundary (release_id, member_id, position, kind, code, name, vintage, area_m2, made_valid, geom)
       select b.release_id, b.member_id, 999999, 'comune', '058998', 'Fuoriporta', b.vintage, 1, false, st_multi(st_makeenvelope(12.4, 41.8, 12.6, 42, 4326))
       from layer.boundary b where b.kind = 'comune' limit 1`,
    );
  });

  afterAll(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** Enriches a table, and returns the parsed rows, the text and the summary of the result. @param table CSV as text or bytes */
  const enrich = async (table: string | Buffer, { by = null, sections = 'basic', on = database }: { by?: Key | null; sections?: string; on?: Database } = {}):
  Promise<{ rows: readonly Row[]; text: string; summary: EnrichedFile }> => {
    const [from, out] = [join(folder, 'table.csv'), join(folder, 'out.csv')];
    await writeFile(from, table);
    const summary = await enrichFile(on, SILENT, { from, out, sections: parseSections(sections), by, guard: 'added' });
    const text = await readFile(out, 'utf8');
    return { rows: parse(text, { columns: true, delimiter: summary.delimiter }), text, summary };
  };

  it('finds the same parcels as /parcels/locate for points inside parcels, on corners rounded to 7 decimals, and outside', async () => {
    const points = await database.query<{ lat: number; lng: number; fids: number[] }>(
      `select q.lat, q.lng, api.parcels_at(q.lat, q.lng, 1000) as fids
       from (
         select st_y(p.point) as lat, st_x(p.point) as lng from core.parcel p where p.fid % 3 = 0
         union all
         select round(st_y(d.geom)::numeric, 7)::float8, round(st_x(d.geom)::numeric, 7)::float8
         from core.parcel p cross join lateral st_dumppoints(p.geom) d where p.fid % 5 = 0 and d.path[3] in (1, 3)
         union all
         select st_y(p.point) + 0.3, st_x(p.point) from core.parcel p where p.fid % 50 = 0
       ) q`,
    );
    const { rows, summary } = await enrich(['id,lat,lng', ...points.map(({ lat, lng }, index) => `${index},${lat},${lng}`)].join(LF));
    expect(rows.map(({ id }) => id)).toEqual(points.map((_, index) => String(index)));
    expect(rows.map(({ fid, candidates }) => [fid, candidates])).toEqual(points.map(({ fids }) => [String(fids[0] ?? ''), String(fids.length)]));
    expect(rows.map(({ status }) => status === 'ambiguous')).toEqual(points.map(({ fids }) => fids.length > 1));
    expect(Object.keys(summary.statuses).sort()).toEqual(expect.arrayContaining(['ambiguous', 'found']));
    expect(summary.rows).toBe(points.length);
  });

  it('states the reason for invalid points and points outside, and keeps each row unchanged', async () => {
    const { point } = await one<{ point: { lat: number; lng: number } }>(database, 'select api.centroid(p.point) as point from core.parcel p order by p.fid limit 1');
    const table = [
      'name;lat;lng', `"a; ""b""";${String(point.lat).replace('.', ',')};${point.lng}`, 'swapped;14.6;41.5', 'Paris;48.8566;2.3522', 'none;;', 'word;north;14', 'short;41.5',
      'sea;42.06;15.15', 'Fuoriporta;41.9;12.5', 'Milano;45.464;9.19',
    ].join('\r\n');
    const { rows, text, summary } = await enrich(table);
    expect(rows.map(({ name, status }) => [name, status])).toEqual([
      ['a; "b"', 'found'], ['swapped', 'invalid'], ['Paris', 'invalid'], ['none', 'invalid'], ['word', 'invalid'], ['short', 'invalid'], ['sea', 'not_found'], ['Fuoriporta', 'not_loaded'], ['Milano', 'not_loaded'],
    ]);
    expect(rows.slice(7).map(({ reason }) => reason)).toEqual(['Lazio is not published', 'the place is outside all published regions']);
    expect(rows.slice(1, 6).map(({ reason }) => reason)).toEqual([
      expect.stringContaining('swapped'), expect.stringContaining('not in Italy'), 'lat is empty', 'lat: expected degrees in decimal notation', 'expected 3 fields, found 2',
    ]);
    expect(summary).toMatchObject({ by: 'point', delimiter: ';', key_columns: ['lat', 'lng'], rows: 9 });
    expect(text.split(LF)[1]).toMatch(/^"a; ""b""";/);
  });

  it('finds parcels by fid, reference and label, and states whether a parcel is retired, unknown or in a region that is not loaded', async () => {
    const parcels = await database.query<Readonly<Record<'reference' | 'belfiore' | 'sheet' | 'label', string>> & { fid: number; section: string | null; twins: number }>(
      `select p.fid, p.reference, p.belfiore, ltrim(p.sheet, '0') as sheet, p.section, p.label,
         (select count(*)::int4 from core.parcel t where t.belfiore = p.belfiore and t.sheet = p.sheet and t.section is not distinct from p.section and upper(t.label) = upper(p.label)) as twins
       from core.parcel p where p.fid % 4 = 0 order by p.fid`,
    );
    await database.query("insert into core.parcel_register (region_code, reference, fid, retired_on, successor_fid) values (14, 'A001_000100.1', 1499999998, date '2026-01-01', $1), (14, 'A001_000100.2', 1499999997, date '2026-01-01', null)", [parcels[0]!.fid]);
    const byFid = await enrich(['fid', ...parcels.map(({ fid }) => fid), 1_499_999_998, 1_499_999_999, 1_200_000_000, 2_100_000_000, 'x'].join(LF));
    expect(byFid.rows.map(({ mappale_fid }) => mappale_fid)).toEqual([...parcels.map(({ fid }) => String(fid)), '', '', '', '', '']);
    expect(byFid.rows.slice(-5).map(({ status, reason }) => [status, reason])).toEqual([
      ['gone', `its successor is ${parcels[0]!.fid}`], ['not_found', ''], ['not_loaded', 'Lazio is not published'], ['not_found', ''], ['invalid', 'fid: expected a whole number up to 2147483647'],
    ]);
    const byReference = await enrich(['Riferimento catastale', ...parcels.map(({ reference }) => reference), 'X998_000100.1', 'Z999_000100.1', 'IT.TN.001.5', 'A001_000100.1', 'a001_000100.1', 'A001_000100.2'].join(LF));
    expect(byReference.rows.map(({ fid }) => fid)).toEqual([...parcels.map(({ fid }) => String(fid)), '', '', '', '', '', '']);
    const inLowerCase = await enrich(['cadastral_reference', ...parcels.map(({ reference }) => reference.toLowerCase())].join(LF));
    expect(parcels.some(({ label }) => label !== label.toLowerCase())).toBe(true);
    expect(inLowerCase.rows.map(({ fid }) => fid)).toEqual(parcels.map(({ fid }) => String(fid)));
    expect(byReference.rows.slice(-6).map(({ status, reason }) => [status, reason])).toEqual([
      ['not_loaded', 'Lazio is not published'], ['not_found', ''], ['not_loaded', 'Trentino-Alto Adige is not published'],
      ['gone', `its successor is ${parcels[0]!.fid}`], ['gone', `its successor is ${parcels[0]!.fid}`], ['gone', 'no successor is known'],
    ]);
    const byLabel = await enrich(['comune,sezione,foglio,particella', ...parcels.map(({ belfiore, section, sheet, label }) => `${belfiore},${section ?? ''},${sheet},${label.toLowerCase()}`),
      'X998,,1,1', 'Nowhere,,1,1', `${parcels[0]!.belfiore},,9999,1`, `${parcels[0]!.belfiore},,,1`, `${parcels[0]!.belfiore},,one,1`].join(LF));
    expect(byLabel.rows.map(({ candidates }) => Number(candidates)).slice(0, parcels.length)).toEqual(parcels.map(({ twins }) => twins));
    const single = parcels.flatMap(({ fid, twins }, index) => (twins === 1 ? [{ fid, index }] : []));
    expect(single.length).toBeGreaterThan(20);
    expect(single.map(({ index }) => byLabel.rows[index]!['fid'])).toEqual(single.map(({ fid }) => String(fid)));
    expect(byLabel.rows.slice(-5).map(({ status, reason }) => [status, reason])).toEqual([
      ['not_loaded', 'Lazio is not published'], ['not_found', 'no comune has this name'], ['not_found', ''], ['not_found', 'foglio is empty, and no land register has the parcel'], ['invalid', 'foglio: expected 1–4 digits'],
    ]);
  });

  it('finds the same addresses as /geocode/search, and the parcel of each address', async () => {
    const reader = { call: (statement: string, parameters: readonly unknown[]) => one(database, statement, parameters) } as unknown as Reader;
    const asked = await queryRecords<{ street: string; city: string }>(
      database,
      `select distinct concat_ws(' ', j.value ->> 'street_name', j.value ->> 'street_number') as street, j.value ->> 'municipality_code' as city
       from core.access_point a cross join lateral (select api.address_json(a.region_code, a.address_id, null::core.parcel) as value) j
       where a.geom is not null and a.address_id % 2 = 0 order by 1, 2 limit 40`,
    );
    const { rows } = await enrich(['indirizzo|comune', ...asked.map(({ street, city }) => `${street}|${city}`), 'Via che non esiste 5|Campobasso', '|H833', 'Via Roma 1|X998'].join(LF));
    const held = new Set((await database.query<{ pair: string }>("select concat(s.fid, ' ', s.address_id) as pair from section.address s")).map(({ pair }) => pair));
    let found = 0;
    for (const [index, { street, city }] of asked.entries()) {
      const { answer } = await search(reader, street, city, 1);
      const [best] = (JSON.parse(answer ?? '') as { data: { address_id: number; match_type: string; score: number }[] }).data;
      const row = rows[index]!;
      expect([street, row['matched_address_id'], row['match_type']]).toEqual([street, String(best?.address_id ?? ''), best?.match_type ?? '']);
      if (row['status'] !== 'found') continue;
      found += 1;
      expect(held).toContain(`${row['fid']} ${row['matched_address_id']}`);
    }
    expect(found).toBeGreaterThan(10);
    expect(rows.at(-2)).toMatchObject({ status: 'invalid', reason: 'address is empty' });
    expect(rows.at(-1)).toMatchObject({ status: 'not_loaded', reason: 'Lazio is not published', matched_address: '' });
  });

  it('reads CSV files exported by Italian spreadsheets, requires a key, and requires --by if a table has two possible keys', async () => {
    const [{ fid }] = await database.query<{ fid: number }>('select min(fid) as fid from core.parcel') as [{ fid: number }];
    const { text } = await enrich(Buffer.from(`citt\u00e0;fid\r\nForl\u00ec;${fid}\r\n`, 'latin1'));
    expect(text).toContain(`Forlì;${fid};found`);
    await expect(enrich(`fid,lat,lng\n${fid},41,14\n`)).rejects.toMatchObject({ code: 'KEY_AMBIGUOUS', hint: 'Choose one: --by fid' });
    expect((await enrich(`fid,lat,lng\n${fid},41,14\n`, { by: 'fid' })).rows[0]).toMatchObject({ status: 'found', mappale_fid: String(fid) });
    await expect(enrich('a,b\n1,2\n')).rejects.toMatchObject({ code: 'KEY_MISSING' });
  });

  it('reads numbers and references as forms, spreadsheets and the publisher write them', async () => {
    const [parcel] = await database.query<Readonly<Record<'reference' | 'belfiore' | 'istat' | 'sheet' | 'label', string>> & { fid: number }>(
      `select p.fid, p.reference, p.belfiore, c.istat_code as istat, ltrim(p.sheet, '0') as sheet, p.label
       from core.parcel p join core.comune c on c.belfiore = p.belfiore
       where p.section is null and p.label ~ '^[0-9]+$'
         and not exists (select from core.parcel t where t.belfiore = p.belfiore and t.sheet = p.sheet and t.label = p.label and t.fid <> p.fid)
       order by p.fid limit 1`,
    );
    const { fid, reference, belfiore, istat, sheet, label } = parcel!;
    const byFid = await enrich(['id,fid', `1,${fid}.0`, `2,00${fid}`, `3, ${fid} `, `4,${fid}.5`, `5,-${fid}`, '6,99999999999', '7,1.4E9'].join(LF));
    expect(byFid.rows.map(({ status }) => status)).toEqual(['found', 'found', 'found', ...Array.from({ length: 4 }, () => 'invalid')]);
    const byReference = await enrich(['cadastral_reference', reference.toLowerCase(), `IT.AGE.PLA.${reference}`, `CadastralParcel.IT.AGE.PLA.${reference}`, `${reference}\0`].join(LF));
    expect(byReference.rows.map((row) => [row['status'], row['fid']])).toEqual([...Array.from({ length: 3 }, () => ['found', String(fid)]), ['invalid', '']]);
    const byLabel = await enrich(['comune,foglio,particella', `${istat},${sheet},${label}`, `${belfiore.toLowerCase()},0000${sheet},00${label}`, `${belfiore},${sheet}.0,${label}.0`,
      `${istat},${sheet},9${label}9`, `999999,${sheet},${label}`, `${belfiore},${sheet}\0,${label}`].join(LF));
    expect(byLabel.rows.map((row) => [row['status'], row['fid']])).toEqual([
      ...Array.from({ length: 3 }, () => ['found', String(fid)]), ['not_found', ''], ['not_found', ''], ['invalid', ''],
    ]);
  });

  it('accepts its own result as input, and never gives two columns the same name', async () => {
    const [{ fid }] = await database.query<{ fid: number }>('select min(fid) as fid from core.parcel') as [{ fid: number }];
    const once = await enrich(`fid\n${fid}\n`);
    const { rows, summary } = await enrich(once.text, { by: 'fid' });
    const names = Object.keys(rows[0]!);
    expect(names).toHaveLength(once.summary.columns_added.length * 2 + 1);
    expect(summary.columns_added).toEqual(expect.arrayContaining(['mappale_status', 'mappale_mappale_fid']));
    await expect(enrich(`fid,FID\n${fid},${fid}\n`)).rejects.toMatchObject({ code: 'KEY_AMBIGUOUS', detail: 'expected one column fid, found fid, FID' });
  });

  it('uses one publication, restarts if another publication becomes current, and leaves no output file if the publication changes again', async () => {
    const fids = (await database.query<{ fid: number }>('select fid from core.parcel order by fid')).map(({ fid }) => fid);
    const table = ['fid', ...fids].join(LF);
    // The first query returns a publication that differs from the next one. If `always` is true, every query returns a different publication.
    const changing = (always: boolean): Database => {
      let asked = 0;
      return Object.assign(Object.create(database) as Database, {
        query: async (sql: string, parameters: readonly unknown[]) => {
          const rows = await database.query(sql, parameters);
          if (!sql.includes('parcel_columns')) return rows;
          asked += 1;
          return asked === 1 || always ? rows.map((row) => ({ ...row, publication: `other ${asked}` })) : rows;
        },
      });
    };
    const { rows } = await enrich(table, { on: changing(false) });
    expect(rows).toHaveLength(fids.length);
    await rm(join(folder, 'out.csv'));
    await expect(enrich(table, { on: changing(true) })).rejects.toMatchObject({ code: 'PUBLICATION_CHANGED' });
    expect((await readdir(folder)).filter((name) => name.startsWith('out.csv') && !name.endsWith('metadata.json'))).toEqual([]);
  });

  it('gives the same cells as an export of the same parcels', async () => {
    const work = { region: findRegion(14)!, area: { kind: 'region' }, sections: parseSections(undefined), createdBy: 'test', verbatim: false } as const;
    const parcels = await database.query<{ fid: number }>('select fid from core.parcel order by geom, fid');
    for (const name of ['geoparquet', 'csv']) {
      const out = join(folder, `molise.${name}`);
      expect(await exportRegion(database, SILENT, { ...work, format: FORMATS[name]!, out })).toMatchObject({ parcels: parcels.length });
    }
    const exported: Row[] = parse(await readFile(join(folder, 'molise.csv'), 'utf8'), { columns: true });
    expect(exported.map(({ fid }) => fid)).toEqual(parcels.map(({ fid }) => String(fid)));
    const { rows } = await enrich(['fid', ...parcels.map(({ fid }) => fid)].join(LF), { sections: parseSections(undefined).join(',') });
    expect(rows.map(({ fid: _own, status: _s, reason: _r, candidates: _c, mappale_fid: fid, ...cells }) => ({ fid, ...cells }))).toEqual(exported);
  });

  it('writes metadata that lists the columns with their descriptions, and the attributions', async () => {
    const [{ fid }] = await database.query<{ fid: number }>('select min(fid) as fid from core.parcel') as [{ fid: number }];
    const { summary, text } = await enrich(`fid\n${fid}\n`, { sections: 'all' });
    const metadata = JSON.parse(await readFile(summary.metadata, 'utf8')) as {
      tableSchema: { columns: { titles: string; 'dc:description': string }[] }; 'dc:license': { 'dc:rights': string }[];
    };
    expect(metadata.tableSchema.columns.map(({ titles }) => titles)).toEqual((text.split(LF)[0] ?? '').split(','));
    const described = new Map(metadata.tableSchema.columns.map(({ titles, 'dc:description': description }) => [titles, description]));
    const expected = columnsOf(parseSections('all')).map(({ name, description }) => [name === 'fid' ? 'mappale_fid' : name, description] as const);
    expect(expected.map(([name]) => [name, described.get(name)])).toEqual(expected);
    expect([...described].filter(([, description]) => description === '')).toEqual([]);
    expect(summary.columns_added).toEqual(expect.arrayContaining(columnsOf(['risk']).map(({ name }) => name)));
    expect(metadata['dc:license'].map((each) => each['dc:rights'])).toEqual(expect.arrayContaining([...summary.attributions]));
    expect(summary.attributions.length).toBeGreaterThan(5);
  });
});
