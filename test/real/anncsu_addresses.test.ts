import { openRun } from '../harness/run.ts';
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { createSchema } from '../../pipelines/db/ddl.ts';
import { inWorkspace, provideAll, provideMembers, provideRegion, viewOfLayer } from '../../pipelines/db/layers.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { comuneKey, localityKey } from '../../pipelines/address/normalise.ts';
import { parseQuery, type ComuneHit } from '../../pipelines/address/parse-query.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { SILENT } from '../../pipelines/log.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { readSqlFile, type Relation } from '../../pipelines/contract/sql-files.ts';
import { load } from '../../pipelines/ingest/load.ts';
import { rankFiles } from '../../pipelines/ledger/current-files.ts';
import { Inventory } from '../../pipelines/ledger/inventory.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { stage } from '../../pipelines/ingest/stage.ts';
import source from '../../sources/anncsu_addresses/source.ts';
import { ADDRESS_SQL } from '../harness/address-workspace.ts';
import { describeDatabase } from '../harness/database.ts';
import { createTables } from '../harness/functions.ts';
import { realData } from '../harness/real-data.ts';
import { trial } from '../harness/trial.ts';

const CALABRIA = realData('anncsu/stradarioCalabria20260602.zip');
const LAMEZIA = realData('anncsu/anncsu_lamezia_indirizzario_20260602_first6000.csv');
const ANAGNI = realData('anncsu/anncsu_anagni_A269_indirizzario_20260223_reexport.csv');
const QUERIES = fileURLToPath(new URL('../../../shared/facts/address-queries.tsv', import.meta.url));

describe('published files of ANNCSU', () => {
  it.skipIf(CALABRIA === null)('include the stradario of Calabria, which is read to the last street', async () => {
    const { recognition, collected } = await trial(source, CALABRIA!);
    expect(recognition).toEqual({ role: 'STRAD', vintage: '2026-06-02', region: 18, complete: true });
    expect(collected!.members[0]).toMatchObject({ records: 71_073, rows: 71_073, rejects: [] });
    const rows = collected!.rows['raw_street']!;
    // The access counts of the streets add up to the number of accesses in the indirizzario of the same day.
    expect(rows.reduce((sum, row) => sum + Number(row['total_accesses']), 0)).toBe(1_407_437);
    expect(new Set(rows.map((row) => row['progressivo_nazionale'])).size).toBe(71_073);
    expect(rows.every((row) => (row['search_tokens'] as string[]).every((tokens) => /^[a-z0-9]+( [a-z0-9]+)*$/.test(tokens)))).toBe(true);
    // If the type is unknown, the whole name is split into words. Few streets have an unknown type.
    expect(rows.filter((row) => (row['search_types'] as (string | null)[])[0] === null).length / rows.length).toBeLessThan(0.02);
  });

  it.skipIf(LAMEZIA === null)('include the indirizzario of Lamezia, which has coordinates and is read to the last access', async () => {
    const { recognition, collected } = await trial(source, LAMEZIA!);
    expect(recognition).toEqual({ role: 'INDIR', vintage: '2026-06-02', region: null, complete: false });
    expect(collected!.members[0]).toMatchObject({ records: 6_000, rows: 6_000, rejects: [] });
    expect(collected!.rows['raw_access']!.every((row) => row['coord_x'] !== null)).toBe(true);
  });

  it.skipIf(ANAGNI === null)('include the indirizzario of Anagni, which has no coordinates and is read to the last access', async () => {
    const { recognition, collected } = await trial(source, ANAGNI!);
    expect(recognition).toEqual({ role: 'INDIR', vintage: '2026-02-23', region: null, complete: false });
    expect(collected!.members[0]).toMatchObject({ records: 10_814, rows: 10_814, rejects: [] });
    expect(collected!.rows['raw_access']!.some((row) => row['progressivo_snc'] !== null && row['civico'] !== null)).toBe(true);
  });
});

describe('the queries of address-queries.tsv', () => {
  const rows = existsSync(QUERIES) ? readFileSync(QUERIES, 'utf8').trimEnd().split('\n').map((line) => line.split('\t')) : [];

  it.skipIf(rows.length === 0)('have the expected first reading', async () => {
    const codes = new Map<string, string>([['Genova', 'D969'], ['Firenze', 'D612'], ['Castro', 'C334']]);
    for (const [, , , , , , , comune = ''] of rows) if (comune !== '' && !codes.has(comune)) codes.set(comune, `X${String(codes.size).padStart(3, '0')}`);
    const hit = (key: string, belfiore: string, kind: ComuneHit['kind'], sigla: string | null): ComuneHit => ({ key, belfiore, kind, sigla, provinceKey: null, region: null });
    const gazetteer = [
      ...[...codes].map(([name, code]) => hit(comuneKey(name), code, 'name', name === 'Castro' ? 'LE' : null)),
      hit('castro', 'C335', 'name', 'BG'), hit(localityKey('Mestre')!, codes.get('Venezia')!, 'locality', null),
    ];
    const readings = await Promise.all(rows.map(async ([n, query]) => {
      const [first] = (await parseQuery(query!, null, async (keys, names) => (names === 'similar' ? [] : gazetteer.filter(({ key }) => keys.includes(key))))).readings;
      const special = first!.snc ? 'SNC' : first!.colour ?? (first!.metricM === null ? '' : `M${first!.metricM}`);
      return [n, query, first!.streetType ?? '', first!.tokens.join(' '), String(first!.number ?? ''), first!.exponent ?? '', special, first!.comuni?.join(',') ?? ''];
    }));
    expect(readings).toEqual(rows.map(([n, query, type, tokens, number, exponent, special, comune]) => [n, query, type, tokens, number, exponent, special, comune === '' ? '' : codes.get(comune!)]));
    expect(rows.length).toBe(60);
  });
});

describeDatabase('searching the addresses of Lamezia', (engine) => {
  let database: Database;
  let folder: string;
  const skipped = LAMEZIA === null;

  beforeAll(async () => {
    if (skipped) return;
    folder = mkdtempSync(join(tmpdir(), 'mappale-real-'));
    copyFileSync(LAMEZIA, join(folder, basename(LAMEZIA)));
    database = await engine.openDatabase();
    const [anncsu, comuni, suppressed, postal] = await Promise.all(['anncsu_addresses', 'istat_comuni', 'istat_soppressi', 'postal_codes'].map((id) => registerSource(id)));
    await database.session(async (session) => {
      await createTables(session);
      await session.query('set check_function_bodies to off');
      const functions = ADDRESS_SQL.filter((file) => !file.startsWith('sql/migrations/')).map((path) => readSqlFile(join(ROOT, path)));
      for (const file of [anncsu!.layer, comuni!.layer, suppressed!.layer, postal!.layer, ...functions]) await session.script(file.text, file.file);
      await session.script(
        `create table layer.comune_code_real partition of layer.comune_code for values in (0);
         insert into layer.comune_code values (0, 0, 2, 'M208', '079160', 'Lamezia Terme', null, '079', '079', 'Catanzaro', 1, 'CZ', 18, 'Calabria', false);
         insert into core.region (code, name) values (18, 'Calabria');
         insert into core.province values ('079', 'Catanzaro', 'CZ', 18);
         insert into core.comune values ('M208', '079160', 'Lamezia Terme', null, '079', 'Catanzaro', 'CZ', 18)`,
        'test/real/anncsu_addresses.test.ts',
      );
    });
    const { releases } = await locate([folder], [anncsu!], { get: () => undefined, set: () => undefined });
    const staged = await stage(database, releases[0]!, 'real', () => undefined, SILENT);
    const run = await openRun(database);
    const loaded = await load(database, staged, run, SILENT);
    expect(loaded).toMatchObject({ records: 6_000, rows: 6_000, rejects: 0, duplicates: 0 });
    await createSchema(database, 'build_18');
    await inWorkspace(database, 'build_18', async (session) => {
      await provideRegion(session, 'build_18', 18, 'Calabria');
      const view = async (layer: Relation, releases: readonly number[]): Promise<void> => {
        await provideAll(session, 'build_18', [await viewOfLayer(session, 'build_18', layer, { releases, files: [], parts: [], columns: null })]);
      };
      // Only addresses are loaded, without the cadastre.
      await session.query('create table parcel (belfiore text)');
      const inventory = await Inventory.read(database, [anncsu!]);
      await provideMembers(session, 'build_18', rankFiles(inventory.files));
      for (const layer of ['layer.accesso', 'layer.odonimo', 'layer.odonimo_indir'] as const) await view(layer, [loaded.releaseId]);
      await view('layer.comune_code', [0]);
      for (const layer of ['layer.comune_suppressed', 'layer.comune_postal_code'] as const) await view(layer, []);
      for (const table of ['access_point', 'street', 'token', 'street_name', 'comune_register', 'comune_found', 'comune_name', 'place_name']) {
        const file = readSqlFile(join(ROOT, `sql/core/${table}.sql`));
        await session.script(file.text, file.file);
        if (table !== 'place_name') await session.script(`create table core.${table}_18 partition of core.${table} for values in (18)`, 'test');
        const columns = await session.query<{ name: string }>('select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 order by attnum', [`core.${table}`]);
        const list = columns.map(({ name }) => name).join(', ');
        await session.query(`insert into core.${table} (${list}) select ${list} from ${table}`);
      }
      await session.query('analyze');
    });
  });
  afterAll(() => {
    if (!skipped) rmSync(folder, { recursive: true, force: true });
  });

  interface Address {
    readonly id: number;
    readonly name: string;
    readonly shown: string;
  }

  async function share(change: (address: Address) => string): Promise<number> {
    const all = await database.query<Address & Record<string, unknown>>(
      `select a.address_id as id, s.name, api.street_number(a.number, a.exponent, a.colour, a.metric_m) as shown
       from core.access_point a join core.street s using (region_code, street_id) where a.number is not null order by a.address_id`,
    );
    const random = randomOf('lamezia');
    let right = 0;
    const asked = 300;
    for (let i = 0; i < asked; i += 1) {
      const address = random.pick(all);
      const parsed = await parseQuery(change(address), null, async (keys, names) => {
        const [row] = await database.query<{ hits: ComuneHit[] }>('select api.geocode_comune($1, $2) as hits', [keys, names === 'similar']);
        return row!.hits;
      });
      const [row] = await database.query<{ found: { street_name: string; street_number: string }[] }>('select api.geocode_search($1, 10) as found', [JSON.stringify(parsed)]);
      const [best] = row!.found;
      if (best?.street_name === address.name && best.street_number === address.shown) right += 1;
    }
    return right / asked;
  }

  it.skipIf(skipped)('finds at least 99 % of addresses by their exact words', async () => {
    expect(await share(({ name, shown }) => `${name} ${shown}, Lamezia Terme`)).toBeGreaterThanOrEqual(0.99);
  });

  it.skipIf(skipped)('finds at least 98 % of addresses in lower case and without commas', async () => {
    expect(await share(({ name, shown }) => `${name.toLowerCase()} ${shown.toLowerCase()} lamezia terme`)).toBeGreaterThanOrEqual(0.98);
  });

  it.skipIf(skipped)('finds at least 90 % of addresses with two letters of the longest word swapped', async () => {
    const turned = ({ name, shown }: Address): string => {
      const longest = name.split(/[^\p{L}]+/u).sort((a, b) => b.length - a.length)[0]!;
      const at = Math.floor(longest.length / 2);
      return `${name.replace(longest, longest.slice(0, at - 1) + longest[at]! + longest[at - 1]! + longest.slice(at + 1))} ${shown}, Lamezia Terme`;
    };
    expect(await share(turned)).toBeGreaterThanOrEqual(0.9);
  });
});
