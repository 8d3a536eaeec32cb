/** Tests that a database on several nodes has the same content, and returns the same results, as a database on a single node. */
import { copyFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rollback } from '../../pipelines/build/publish.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { calledFunctions, tableFilesOf } from '../../pipelines/contract/sql-files.ts';
import { findRegion, firstFid } from '../../pipelines/contract/regions.ts';
import { cellsOf } from '../../pipelines/deliver/columns.ts';
import { exportRegion } from '../../pipelines/deliver/export.ts';
import { FORMATS } from '../../pipelines/deliver/formats.ts';
import { openPostgresReader } from '../../pipelines/db/reader.ts';
import { SILENT } from '../../pipelines/log.ts';
import { isDistributed } from '../../pipelines/db/distributed.ts';
import { openDatabase, type Database } from '../../pipelines/db/index.ts';
import { damageOf } from '../../pipelines/db/objects.ts';
import { ROLE } from '../../pipelines/db/role.ts';
import { partsOf } from '../../pipelines/db/state.ts';
import { withRun } from '../../pipelines/ledger/runs.ts';
import { diff } from '../../pipelines/operate/diff.ts';
import { explain } from '../../pipelines/operate/explain.ts';
import { parcelHistory } from '../../pipelines/operate/history.ts';
import { prune } from '../../pipelines/operate/prune.ts';
import { readRegionReport } from '../../pipelines/operate/region-report.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { upgrade } from '../../pipelines/run/upgrade.ts';
import { readConfig } from '../../pipelines/config.ts';
import { mappale, outcomeOf, type Ended } from '../harness/faults/machine.ts';
import { currentContent, orphans, recount, withDatabase } from '../harness/published.ts';
import { REGION, smallRegion, type Region } from '../harness/faults/region.ts';
import { Citus, citusMissing, SHARDS } from '../harness/citus.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const missing = citusMissing();
const ACCEPTED = { who: 'test', why: 'a test' };

describe.skipIf(missing !== null)(`several nodes${missing === null ? '' : ` [not run: ${missing}]`}`, () => {
  let citus: Citus;
  let region: Region;
  let first: string;
  let second: string;
  const opened = new Map<Database, string>();
  const open = async (url: string): Promise<Database> => {
    const database = await openDatabase(url);
    opened.set(database, url);
    return database;
  };
  const urlOf = (database: Database): string => opened.get(database)!;
  /** Returns a new database that is distributed across the nodes. */
  const distributed = async (): Promise<Database> => {
    const database = await open(await citus.database());
    await upgrade(database, await loadSources(), { distributed: true });
    return database;
  };
  const load = async (database: Database, folder: string): Promise<void> => {
    expect((await refresh(await contextOn(database), loadOptions([folder], [REGION], { accept: ACCEPTED }))).failures).toEqual([]);
  };
  const back = (database: Database): Promise<unknown> =>
    withRun(database, { command: 'test', arguments: {}, version: 'test', host: 'test' }, ({ runId }) => rollback(database, REGION, runId));
  const register = (database: Database): Promise<unknown[]> =>
    database.query('select region_code, reference, fid, retired_on is null as lives, drawing, successor_fid from core.parcel_register order by 1, 2');

  let plain: Database;
  let nodes: Database;

  beforeAll(async () => {
    [citus, region] = await Promise.all([Citus.start(), smallRegion()]);
    // The tests load the folder `first`, and then the folder `second`, in which one comune lacks a parcel. The second build copies unchanged rows from the
    // publication.
    first = `${region.folder}-first`;
    second = `${region.folder}-second`;
    await cp(region.folder, first, { recursive: true });
    await cp(region.folder, second, { recursive: true });
    await rewriteZip(join(second, 'MOLISE.zip'), (path, content) => {
      if (!path.includes('/Z002_') || !path.endsWith('_ple.gml')) return content;
      let seen = 0;
      return Buffer.from(content.toString('utf8').replace(/<(wfs:member|gml:featureMember)>[\s\S]*?<\/\1>\s*/g, (member) => ((seen += 1) === 12 ? '' : member)));
    });
    // The nodes lack the server's role here, so the program creates the role on each node.
    const newest = await distributed();
    expect(await isDistributed(newest)).toBe(true);
    await newest.close();
    opened.delete(newest);
    await citus.forgetRole(ROLE);
    // The database without Citus is created first. After that, the coordinator has the server's role, and the workers lack the role.
    plain = await open(await citus.plain());
    await load(plain, first);
    nodes = await distributed();
    await load(nodes, first);
  });
  afterAll(async () => {
    await Promise.all([...opened.keys()].map((database) => database.close()));
    await region?.remove();
    await citus?.remove();
  });

  it('have every object of this version', async () => {
    const parts = partsOf(await loadSources());
    for (const database of [plain, nodes]) expect(await database.session((session) => damageOf(session, parts))).toEqual([]);
  });

  it('return the same columns of parcels, quality report and export as a single node', async () => {
    const fids = (await plain.query<{ fid: number }>('select fid from core.parcel order by fid')).map(({ fid }) => fid);
    const rows = async (database: Database): Promise<unknown[]> => {
      const reader = await openPostgresReader(urlOf(database), { connections: 2, statementTimeoutMs: 60_000 });
      try {
        const columns = (some: readonly number[]): Promise<{ answer: string }> => reader.call('select answer from api.parcel_columns($1, $2)', [some, SECTION_NAMES]);
        const answers = [];
        for (const some of [...fids.slice(0, 3).map((fid) => [fid]), fids]) answers.push(cellsOf((await columns(some)).answer, SECTION_NAMES));
        const { answer } = await reader.call<{ answer: string }>('select answer from api.municipality_quality($1)', ['Z001']);
        return [...answers, (JSON.parse(answer) as { coverage: unknown }).coverage];
      } finally {
        await reader.close();
      }
    };
    expect(await rows(nodes)).toEqual(await rows(plain));
    const folder = await mkdtemp(join(tmpdir(), 'mappale-nodes-'));
    const work = { region: findRegion(REGION)!, area: { kind: 'region' }, sections: SECTION_NAMES, format: FORMATS['csv']!, createdBy: 'test', verbatim: false } as const;
    const exported = async (database: Database, name: string): Promise<string> => {
      const { sha256 } = await exportRegion(database, SILENT, { ...work, out: join(folder, name) });
      return sha256;
    };
    expect(await exported(nodes, 'nodes.csv')).toBe(await exported(plain, 'plain.csv'));
    await rm(folder, { recursive: true });
  });

  it('are refused without Citus, with the embedded database, and with an unknown value of MAPPALE_DISTRIBUTED', async () => {
    const sources = await loadSources();
    await expect(upgrade(await open(await citus.plain()), sources, { distributed: true })).rejects.toMatchObject({ code: 'CITUS_MISSING', exitCode: 2 });
    expect(() => readConfig({ MAPPALE_DISTRIBUTED: 'citus', DATABASE_URL: 'pglite:memory' })).toThrow(expect.objectContaining({ code: 'CONFIG_DISTRIBUTED', exitCode: 2 }));
    expect(() => readConfig({ MAPPALE_DISTRIBUTED: 'yes', DATABASE_URL: 'postgres://a/b' })).toThrow(expect.objectContaining({ code: 'CONFIG_UNKNOWN', exitCode: 2 }));
  });

  it('are refused if a node cannot revoke the right to run commands on other nodes', async () => {
    const url = await citus.database();
    const [worker] = citus.workers(url);
    await withDatabase(worker!, (database) => database.session(async (node) => {
      await node.query('set citus.enable_ddl_propagation = off');
      await node.query("create function stop_here() returns event_trigger language plpgsql as $$ begin raise exception 'stopped here'; end $$");
      await node.query("create event trigger stop_here on ddl_command_end when tag in ('REVOKE') execute function stop_here()");
    }));
    const database = await open(url);
    await expect(upgrade(database, await loadSources(), { distributed: true })).rejects.toMatchObject({
      code: 'NODE_NOT_RESTRICTED', exitCode: 2, message: expect.stringContaining(new URL(worker!).host), detail: expect.stringContaining('stopped here'),
    });
    expect(await database.query("select to_regclass('core.parcel') as parcels")).toEqual([{ parcels: null }]);
  });

  it('have the same content and fids as a single node', async () => {
    expect(await isDistributed(nodes)).toBe(true);
    expect(await isDistributed(plain)).toBe(false);
    expect(await currentContent(nodes)).toEqual(await currentContent(plain));
    expect(await recount(nodes)).toEqual(await currentContent(plain));
    expect(await orphans(nodes)).toEqual([]);
    expect(await register(nodes)).toEqual(await register(plain));
  });

  it('distribute all tables keyed by fid, each parcel with its sections on one node', async () => {
    const tables = await nodes.query<{ table: string; column: string; group: number; shards: number }>(
      `select table_name::text as "table", distribution_column as "column", colocation_id as "group", shard_count::int4 as shards
       from citus_tables where citus_table_type = 'distributed' order by 1`,
    );
    const parents = await nodes.query<{ table: string }>("select partrelid::regclass::text as \"table\" from pg_partitioned_table where pg_get_partkeydef(partrelid) = 'RANGE (fid)' order by 1");
    expect(tables.map(({ table }) => table)).toEqual(expect.arrayContaining(parents.map(({ table }) => table)));
    for (const { column, group, shards } of tables) expect([column, group, shards]).toEqual(['fid', tables[0]!.group, SHARDS]);
    // The coordinator stores no published rows, and every shard contains some.
    const [coordinator] = await nodes.query<{ bytes: number }>("select pg_relation_size(relid) as bytes from pg_partition_tree('core.parcel') where isleaf");
    expect(coordinator!.bytes).toBe(0);
    const placed = await nodes.query<{ parcels: number }>('select result::int4 as parcels from run_command_on_shards(\'core.parcel\', \'select count(*) from %s\')');
    expect(placed.map(({ parcels }) => parcels > 0)).toEqual(Array.from({ length: SHARDS }, () => true));
  });

  it('return the same bytes as a single node for every parcel, and for a sample of places', async () => {
    const fids = (await plain.query<{ fid: number }>('select fid from core.parcel order by fid')).map(({ fid }) => fid);
    const asked = [
      ['select f.fid, a.head, a.citations from unnest($1::int4[]) as f (fid) cross join lateral api.parcel_answer(f.fid, $2) a', [fids, SECTION_NAMES]],
      ["select answer from api.locate_box(13, 41, 15, 43, -1, 300, 'feature')", []],
      ["select p.answer from unnest($1::text[]) as l (label) cross join lateral api.search_parcels(array['Z001', 'Z002'], '{\"comune\":\"x\"}', null, l.label, null, 20) p", [['1', '2', '28', '30']]],
      ["select p.answer from api.search_parcels(array['Z002'], '{\"comune\":\"x\"}', '0001', null, null, 20) p", []],
      ['select r.fid, api.parcel_by_reference(r.reference) as found from unnest($1::int4[], $2::text[]) as r (fid, reference)', [[fids[0]], ['Z001_000100.28']]],
    ] as const;
    for (const [sql, parameters] of asked) expect(await nodes.query(sql, parameters), sql).toEqual(await plain.query(sql, parameters));
    const points = await plain.query<{ lat: number; lng: number }>('select st_y(point) as lat, st_x(point) as lng from core.parcel order by fid limit 40');
    for (const { lat, lng } of points) {
      const sql = "select answer from api.locate_point($1, $2, 5, 'geometry')";
      expect(await nodes.query(sql, [lat, lng])).toEqual(await plain.query(sql, [lat, lng]));
    }
  });

  it('return the same tiles, suggestions, explanations and reports as a single node', async () => {
    const fids = (await plain.query<{ fid: number }>('select fid from core.parcel order by fid limit 3')).map(({ fid }) => fid);
    const kinds = ['land', 'road', 'water'];
    const asked = [
      ['select facts, drawings from api.tile_parcels($1, $2, $3, $4, 300)', [[13, 41, 15, 43], kinds, SECTION_NAMES, [firstFid(REGION), firstFid(REGION + 1)]]],
      ['select facts, drawings from api.tile_comuni($1, 0.0001, null)', [[13, 41, 15, 43]]],
      ['select facts, drawings from api.tile_footprints($1, 300)', [[13, 41, 15, 43]]],
      ['select facts, drawings from api.tile_house_numbers($1, 300)', [[13, 41, 15, 43]]],
      ['select answer from api.map_comuni($1)', [REGION]],
      ['select answer from api.map_samples($1)', [['Z001', 'Z002', 'Z003']]],
      ["select completions from api.completions('ro', '{ro}')", []],
    ] as const;
    for (const [sql, parameters] of asked) expect(await nodes.query(sql, parameters), sql).toEqual(await plain.query(sql, parameters));
    // Release numbers, run numbers, times and sizes differ between databases.
    const own = ['release', 'release_id', 'member_id', 'document_id', 'run', 'seconds', 'bytes'];
    const comparable = (rows: unknown): unknown => JSON.parse(JSON.stringify(rows, (name, value: unknown) => (own.includes(name) || name.endsWith('_at') ? null : value)));
    for (const section of SECTION_NAMES) {
      const rows = async (database: Database): Promise<unknown> => {
        const { evidence, ...explained } = await explain(await contextOn(database), fids[1]!, section);
        return comparable({ ...explained, evidence: evidence.map((each) => JSON.stringify(comparable(each))).sort() });
      };
      expect(await rows(nodes), section).toEqual(await rows(plain));
    }
    const reported = async (database: Database): Promise<unknown> => {
      const report = await readRegionReport(await contextOn(database), findRegion(REGION)!);
      expect(report.tables.filter(({ bytes, rows }) => rows > 0 && (bytes ?? 0) < rows)).toEqual([]);
      const { releases, ...rest } = report;
      return comparable({ ...rest, releases: releases.map((each) => JSON.stringify(comparable(each))).sort() });
    };
    expect(await reported(nodes)).toEqual(await reported(plain));
  });

  it('allow the server\'s role to execute only the API functions, on the coordinator and on the workers', async () => {
    const url = new URL(urlOf(nodes));
    await nodes.query("do $$ begin create role mappale_test_reader login password 'reader' in role mappale_api; exception when duplicate_object then null; end $$");
    try {
      url.username = 'mappale_test_reader';
      url.password = 'reader';
      await withDatabase(url.href, async (reader) => {
        const [parcel] = await nodes.query<{ fid: number }>('select min(fid) as fid from core.parcel');
        const [found] = await reader.query<{ answer: string }>("select head || '[]' || tail as answer from api.parcel_answer($1, $2)", [parcel!.fid, SECTION_NAMES]);
        expect(JSON.parse(found!.answer)).toMatchObject({ fid: parcel!.fid });
        for (const sql of ['select count(*) from core.parcel', 'select count(*) from section.risk', "select run_command_on_workers('select 1')", 'delete from core.parcel']) {
          await expect(reader.query(sql), sql).rejects.toMatchObject({ code: expect.stringMatching(/SQL_42501/) as string });
        }
      });
      for (const worker of citus.workers(url.href)) {
        const there = new URL(worker);
        there.username = 'mappale_test_reader';
        there.password = 'reader';
        await withDatabase(there.href, async (reader) => {
          await expect(reader.query('select count(*) from core.parcel')).rejects.toMatchObject({ code: expect.stringMatching(/SQL_(42501|25006)/) as string });
        });
      }
    } finally {
      await nodes.query('drop role mappale_test_reader');
    }
  });

  it('join parcels with each section on the shards, according to the query plans', async () => {
    const plan = async (sql: string): Promise<string> => (await nodes.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${sql}`)).map((row) => row['QUERY PLAN']).join('\n');
    const sections = await nodes.query<{ name: string }>(`
      select partrelid::regclass::text as name
      from pg_partitioned_table
      where pg_get_partkeydef(partrelid) = 'RANGE (fid)' and partrelid <> 'core.parcel'::regclass
      order by 1`);
    expect(sections.length).toBeGreaterThan(15);
    for (const { name } of sections) {
      const text = await plan(`select count(*) from core.parcel p join ${name} s on s.fid = p.fid where p.area_m2 > 10`);
      expect(text, name).toMatch(new RegExp(`Custom Scan \\(Citus Adaptive\\)\\s+Task Count: ${SHARDS}`));
      expect(text, name).not.toMatch(/Distributed Subplan|intermediate_result|repartition|MapMerge/i);
    }
  });

  it('have on every worker the functions for building tables whose rows each depend on one parcel', async () => {
    const files = tableFilesOf(REGION).filter(({ incremental, sweep }) => incremental?.by === 'parcels' && sweep === null);
    expect(files.map(({ writes }) => writes[0]!).sort()).toEqual([
      'section.coastal_erosion', 'section.economics', 'section.land_cover', 'section.land_use', 'section.postal_code', 'section.risk', 'section.subsidence',
      'section.valuation', 'section.valuation_history',
    ]);
    const called = files.flatMap(calledFunctions).flatMap(({ writes }) => writes);
    expect(called.length).toBeGreaterThan(0);
    for (const worker of citus.workers(urlOf(nodes))) {
      await withDatabase(worker, async (there) => {
        const functions = await there.query<{ name: string }>(
          "select distinct 'core.' || proname as name from pg_proc where pronamespace = 'core'::regnamespace",
        );
        expect(functions.map(({ name }) => name)).toEqual(expect.arrayContaining(called));
      });
    }
  });

  it('refresh a changed comune, report the changes, roll back and forward, and prune', async () => {
    const sources = await loadSources();
    const before = await currentContent(plain);
    for (const database of [plain, nodes]) await load(database, second);
    const after = await currentContent(plain);
    expect(after).not.toEqual(before);
    expect(await currentContent(nodes)).toEqual(after);
    expect(await recount(nodes)).toEqual(after);
    expect(await register(nodes)).toEqual(await register(plain));
    expect(await diff(nodes, REGION)).toEqual(await diff(plain, REGION));
    await back(nodes);
    expect(await recount(nodes)).toEqual(before);
    await back(nodes);
    expect(await recount(nodes)).toEqual(after);
    await prune(nodes, sources);
    expect(await recount(nodes)).toEqual(after);
    expect(await orphans(nodes)).toEqual([]);
  });

  it('keep no history, so as_of answers only for the current publication and reports the limit', async () => {
    const [parcel] = await nodes.query<{ fid: number }>('select min(fid) as fid from core.parcel');
    const asOf = async (daysAgo: number): Promise<{ answer: string | null; refusal: unknown }> => {
      const sql = "select answer, refusal from api.parcel_as_of($1, $2, (select (max(happened_at) at time zone 'Europe/Rome')::date from ledger.swap where unit_code = $4) - $3::int4)";
      return (await nodes.query<{ answer: string | null; refusal: unknown }>(sql, [parcel!.fid, SECTION_NAMES, daysAgo, REGION]))[0]!;
    };
    expect(JSON.parse((await asOf(0)).answer!)).toMatchObject({ fid: parcel!.fid, meta: { as_of: { publication: expect.any(Number) as number } } });
    expect(await asOf(1)).toMatchObject({ answer: null, refusal: { reason: 'never_kept' } });
    expect((await parcelHistory(plain, parcel!.fid)).keeps_history).toBe(true);
    const history = await parcelHistory(nodes, parcel!.fid);
    expect(history.keeps_history).toBe(false);
    expect(history.fields.every(({ values }) => values.length === 1)).toBe(true);
    const [swaps] = await nodes.query<{ n: number }>('select count(*) as n from ledger.swap where unit_code = $1', [REGION]);
    expect(swaps!.n).toBe(1);
  });

  it('distribute the content of an existing database', async () => {
    const database = await open(await citus.database());
    await load(database, first);
    const before = await recount(database);
    await upgrade(database, await loadSources(), { distributed: true });
    expect(await isDistributed(database)).toBe(true);
    expect(await recount(database)).toEqual(before);
    await load(database, second);
    expect(await currentContent(database)).toEqual(await currentContent(plain));
    await back(database);
    expect(await recount(database)).toEqual(before);
  });

  it('report a clear error if a node is lost during a build, keep the publication, and continue in the next run', async () => {
    const database = await distributed();
    await load(database, first);
    const before = await currentContent(database);
    const context = await contextOn(database);
    const folder = await region.version(1);
    const building = refresh(context, loadOptions([folder], [REGION], { accept: ACCEPTED })).then(() => null, (error: unknown) => error);
    for (let waited = 0; waited < 1200; waited += 1) {
      const [there] = await database.query<{ there: boolean }>("select exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname like 'build\\_%\\_shards' and c.relname = 'parcel') as there");
      if (there?.there === true) break;
      await sleep(25);
    }
    const startAgain = await citus.killWorker();
    const error = await building;
    expect(error).toMatchObject({ kind: 'database', exitCode: 6 });
    await startAgain();
    expect(await currentContent(database)).toEqual(before);
    expect(await recount(database)).toEqual(before);
    await load(database, folder);
    const calm = await open(await citus.plain());
    await load(calm, first);
    await load(calm, folder);
    expect(await recount(database)).toEqual(await currentContent(calm));
    expect(await orphans(database)).toEqual([]);
  });

  it('build every region once if two processes refresh in parallel', async () => {
    const { folder, remove } = await syntheticFiles(400, 11, { only: ['ade_cadastre'] });
    try {
      for (const name of ['ABRUZZO', 'BASILICATA', 'CALABRIA']) await copyFile(join(folder, 'MOLISE.zip'), join(folder, `${name}.zip`));
      const database = await distributed();
      const url = urlOf(database);
      const concurrent = (): Promise<Ended> => mappale(url, 'refresh', '--data', folder, '--concurrent');
      for (const ended of await Promise.all([concurrent(), concurrent()])) expect([ended.code, outcomeOf(ended)]).toEqual([0, expect.anything()]);
      const made = await database.query<{ region: number; n: number }>('select unit_code::int4 as region, count(*)::int4 as n from ledger.publication where unit_code > 0 group by 1 order by 1');
      expect(made).toEqual([{ region: 13, n: 1 }, { region: 14, n: 1 }, { region: 17, n: 1 }, { region: 18, n: 1 }]);
      expect(await recount(database)).toEqual(await currentContent(database));
      expect(await orphans(database)).toEqual([]);
    } finally {
      await remove();
    }
  });
});
