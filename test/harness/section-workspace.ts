/**
 * Provides a region's workspace with the parcels of a synthetic region and the layers of chosen sources. The program's own steps load the layers. Tests of one
 * section use the workspace, without the cadastre's files and without publishing.
 */
import { rmSync } from 'node:fs';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import type { Database, Session } from '../../pipelines/db/index.ts';
import { createSchema } from '../../pipelines/db/ddl.ts';
import { inWorkspace, provideAll, provideMembers, provideRegion, viewOfLayer } from '../../pipelines/db/layers.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import { multiPolygon } from '../../pipelines/formats/kml.ts';
import type { MultiPolygon } from '../../pipelines/synthetic/plane-geometry.ts';
import type { Columns } from '../../pipelines/contract/source.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { providePublishedParcels } from '../../pipelines/db/register.ts';
import { describeDatabase } from './database.ts';
import { createTables } from './functions.ts';
import { openRun } from './run.ts';
import { SILENT } from '../../pipelines/log.ts';
import { firstFid } from '../../pipelines/contract/regions.ts';
import { registerSource, sourceOfLayer, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { readSqlFile, schemaOf, tableOf, type SqlFile } from '../../pipelines/contract/sql-files.ts';
import { load, type Loaded } from '../../pipelines/ingest/load.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { stage } from '../../pipelines/ingest/stage.ts';
import { rankFiles, currentRows } from '../../pipelines/ledger/current-files.ts';
import { Inventory } from '../../pipelines/ledger/inventory.ts';
import { ROOT } from '../../pipelines/config.ts';
import { runTableFile } from '../../pipelines/build/sweep.ts';

const PARCEL: Columns = {
  fid: 'int4', belfiore: 'text', section: 'text', sheet: 'text', attachment: 'text', development: 'text', label: 'text', reference: 'text',
  gml_id: 'text', kind: 'text', made_valid: 'bool', geom: 'geometry',
};

export interface SectionWorkspace {
  readonly schema: string;
  readonly loaded: readonly Loaded[];
  /** Runs one file of `sql/core` or `sql/sections` in the workspace. */
  run(file: string): Promise<void>;
  /** Copies the rows of a table of the workspace into `parent`, the table that the `api` functions read. */
  publish(table: string, parent: string): Promise<void>;
  /** Runs work in a session whose search path includes the workspace. */
  session<T>(work: (session: Session) => Promise<T>): Promise<T>;
}

/** Returns the fid of the parcel at an index of the synthetic region. Each region has a range of fids. */
export function syntheticFid(region: SyntheticRegion, index: number): number {
  return firstFid(region.code) + index;
}

export interface SectionWorkspaceOptions {
  readonly region: SyntheticRegion;
  /** Ids of the sources whose synthetic files are written, read and loaded. */
  readonly sources: readonly string[];
  /** Files of `sql/` that the section needs in addition to the ledger, the core tables and the functions. Migrations are skipped, because all have run. */
  readonly sql: readonly string[];
}

/** @param database a new database */
export async function sectionWorkspace(database: Database, { region, sources: ids, sql }: SectionWorkspaceOptions): Promise<SectionWorkspace> {
  const sources = await Promise.all(ids.map((id) => registerSource(id)));
  await database.session(async (session) => {
    await createTables(session);
    // API functions are late-bound, so the tables that they read may be created later.
    await session.query('set check_function_bodies to off');
    const files = sql.filter((file) => !file.startsWith('sql/migrations/')).map((path) => readSqlFile(join(ROOT, path)));
    for (const file of [...sources.map(({ layer }) => layer), ...files]) await session.script(file.text, file.file);
  });
  const loaded = await loadSynthetics(database, region, sources);
  const schema = `build_${region.code}`;
  await createSchema(database, schema);
  await writeParcels(database, schema, region);
  const inventory = await Inventory.read(database, sources);
  await provideMembers(database, schema, rankFiles(inventory.used(region.code)));
  return {
    schema,
    loaded,
    session: (work) => inWorkspace(database, schema, work),
    run: (path) => inWorkspace(database, schema, async (session) => {
      const file: SqlFile = readSqlFile(join(ROOT, path));
      for (const relation of file.reads.filter((read) => schemaOf(read) === 'layer')) {
        const source = sourceOfLayer(sources, relation);
        if (source === undefined) throw new Error(`${path} reads ${relation}, which none of ${ids.join(', ')} creates`);
        const [there] = await session.query<{ there: boolean }>('select to_regclass($1) is not null as there', [`${schema}.${relation.split('.')[1]!}`]);
        if (!there!.there) {
          const table = tableOf(relation);
          const rows = currentRows(inventory.current(region.code, relation), inventory.files, table, source.places?.[table] ?? null);
          await provideAll(session, schema, [await viewOfLayer(session, schema, relation, rows)]);
        }
      }
      await session.transaction(() => runTableFile(session, schema, file, null));
      await session.query('analyze');
    }),
    publish: (table, parent) => database.session(async (session) => {
      const [bound] = await session.query<{ partitioned: string | null }>(
        'select pg_get_partkeydef($1::regclass::oid) as partitioned', [parent],
      );
      const [low, high] = [firstFid(region.code), firstFid(region.code + 1)];
      // Tables of all Italy have no partitions.
      const part = bound!.partitioned === null ? parent : `${parent}_test`;
      if (bound!.partitioned !== null) await session.query(bound!.partitioned.startsWith('RANGE')
        ? `create table ${part} partition of ${parent} for values from (${low}) to (${high})`
        : `create table ${part} partition of ${parent} for values in (${region.code})`);
      const columns = await session.query<{ name: string }>(
        'select attname as name from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum', [parent],
      );
      const list = columns.map(({ name }) => `"${name}"`).join(', ');
      await session.query(`insert into ${part} (${list}) select ${list} from ${schema}.${table}`);
    }),
  };
}

/** A workspace and its database. Both exist only while tests and hooks run. */
interface Built {
  readonly database: Database;
  readonly workspace: SectionWorkspace;
}

/** Runs a suite on a workspace in a new database. @param prepare builds and publishes the tables that the tests read */
export function describeWorkspace(
  name: string, options: SectionWorkspaceOptions, prepare: (workspace: SectionWorkspace, database: Database) => Promise<void>, suite: (built: Built) => void,
): void {
  describeDatabase(name, (engine) => {
    const built: { -readonly [Part in keyof Built]?: Built[Part] } = {};
    beforeAll(async () => {
      built.database = await engine.openDatabase();
      built.workspace = await sectionWorkspace(built.database, options);
      await prepare(built.workspace, built.database);
    });
    suite(built as Built);
  });
}

/** Folders that the tests created. A handler removes them when the process ends. */
const written: string[] = [];
process.once('exit', () => {
  for (const folder of written) rmSync(folder, { recursive: true, force: true });
});

async function loadSynthetics(database: Database, region: SyntheticRegion, sources: readonly RegisteredSource[]): Promise<Loaded[]> {
  const loaded: Loaded[] = [];
  for (const source of sources) {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-section-'));
    try {
      await (await loadSynthetic(source.id)).write(region, folder);
      // Provincial land registers exist in one region only, so other regions have no such files.
      if ((await readdir(folder)).length === 0) continue;
      const survey = await locate([folder], [source], { get: () => undefined, set: () => undefined });
      if (survey.broken.length > 0) throw survey.broken[0]!.error;
      for (const located of survey.releases) {
        const staged = await stage(database, located, `${source.id} ${located.vintage} ${located.region ?? ''}`, () => undefined, SILENT);
        loaded.push(await load(database, staged, await openRun(database), SILENT));
      }
    } finally {
      // Keeps the folder, because a section may read files such as rasters until its test ends.
      written.push(folder);
    }
  }
  return loaded;
}

/** Writes the table `parcel` like `core.parcel`, in Hilbert order and indexed, the view `region`, and the empty view `published_parcel`. */
async function writeParcels(database: Database, schema: string, region: SyntheticRegion): Promise<void> {
  const columns = Object.entries(PARCEL).map(([name, type]) => `${name} ${type}`).join(', ');
  await database.query(`create table ${schema}.raw_parcel (member_id int4, position int8, ${columns})`);
  const copy = await database.copyIn(schema, 'raw_parcel');
  let pending: Promise<void> | undefined;
  const writer = new RowWriter(PARCEL, (chunk) => {
    pending = copy.write(chunk) ?? pending;
  });
  for (const parcel of region.parcels()) {
    const { sheet } = parcel;
    writer.row(parcel.index + 1, [
      syntheticFid(region, parcel.index),
      parcel.comune.belfiore,
      sheet.section,
      sheet.sheet,
      sheet.attachment,
      sheet.development,
      parcel.label,
      parcel.reference,
      `gml.${parcel.index}`,
      parcel.kind,
      false,
      ewkbMultiPolygon(parcel.polygons),
    ]);
    if (pending !== undefined) {
      await pending;
      pending = undefined;
    }
  }
  writer.flush();
  await pending;
  await copy.end();
  await inWorkspace(database, schema, async (session) => {
    await provideRegion(session, schema, region.code, region.name);
    await providePublishedParcels(session, schema, null, null);
    await session.script(
      `create table parcel as
       select fid, belfiore, section, sheet, attachment, development, label, reference, gml_id, kind, core.area_m2(geom) as area_m2, made_valid,
         st_pointonsurface(geom)::geometry(point, 4326) as point, geom::geometry(multipolygon, 4326) as geom, 1 as document_id
       from raw_parcel order by geom;
       alter table parcel add primary key (fid);
       create index on parcel using gist (geom);
       create index on parcel using gist (point);
       drop table raw_parcel;
       analyze parcel;`,
      'test/harness/section-workspace.ts',
    );
  });
}

/** Returns the EWKB of polygons in degrees. */
export function ewkbMultiPolygon(polygons: MultiPolygon): Buffer {
  return multiPolygon(polygons.map((rings) => rings.map((ring) => ring.flat())));
}
