/** What `mappale` says when nothing else is typed: what this machine has, what is published, and what to type next. Changes nothing. */
import { readConfig } from '../config.ts';
import { loadSources } from '../contract/registry.ts';
import { unitName } from '../contract/regions.ts';
import type { Database } from '../db/index.ts';
import { checkServer } from '../db/migrate.ts';
import { appliedFiles, requireCurrent } from '../db/state.ts';
import { MappaleError } from '../errors.ts';
import { gdal } from '../formats/vector.ts';
import { group } from '../progress.ts';
import { VERSION } from '../run/context.ts';
import { looking } from './command.ts';

/** What is typed, and what it does. */
type Next = readonly (readonly [typed: string, what: string])[];

interface Found {
  /** Of the database. */
  readonly lines: readonly string[];
  readonly next: Next;
}

/** Where nothing is published. */
const FIRST: Next = [
  ['npx mappale load-region', 'a synthetic region with every source, in a minute'],
  ['npx mappale fetch molise', 'the publishers\' files of a region, and where to click for the rest'],
  ['npx mappale load-region molise --data data', 'a region from these files, as far as they are there'],
  ['npx mappale sources', 'what can be downloaded, where, and under which licence'],
];

/** @throws MappaleError `CONFIG_UNKNOWN`, `CONFIG_DISTRIBUTED` (exit 2) */
export async function firstScreen(): Promise<string> {
  const { databaseUrl } = readConfig();
  const vector = await gdal('GDAL', 'version').then((version) => `GDAL ${version}`, () => 'no GDAL: shapefiles and GeoPackages cannot be read (install libgdal-dev, then: make setup)');
  const { lines, next } = await look(databaseUrl);
  const width = Math.max(...next.map(([typed]) => typed.length));
  return [
    `mappale ${VERSION}: Italy's public territorial files in, one PostGIS database out.`, '',
    `machine   Node ${process.versions.node}, ${vector}`,
    ...lines.map((line, index) => `${index === 0 ? 'database' : '        '}  ${line}`), '',
    'Next:',
    ...next.map(([typed, what]) => `  ${typed.padEnd(width)}  ${what}`),
    `  ${'npx mappale --help'.padEnd(width)}  all commands`,
  ].join('\n');
}

async function look(url: string): Promise<Found> {
  try {
    return await looking(url, async (database) => (database === null ? { lines: [`${url}: not there yet, the first load makes it`], next: FIRST } : published(database)));
  } catch (error) {
    if (!(error instanceof MappaleError)) throw error;
    return { lines: [`${error.message} [${error.code}]`, ...[error.detail, error.hint].filter((line) => line !== undefined)], next: [...(error.mend === undefined ? [] : [[error.mend, 'mends it'] as const]), ['npx mappale doctor', 'what else stands in the way']] };
  }
}

/** A region that is published. */
type Region = { readonly unit: number; readonly parcels: number; readonly days: number };

async function published(database: Database): Promise<Found> {
  if ((await appliedFiles(database)) === null) {
    await checkServer(database, database.label);
    return { lines: [`${database.label}: empty, the first load makes what it needs`], next: FIRST };
  }
  try {
    await requireCurrent(database, await loadSources());
  } catch (error) {
    if (!(error instanceof MappaleError)) throw error;
    return { lines: [`${database.label}: ${error.message}`], next: [['npx mappale migrate', 'brings it to this version and keeps its rows']] };
  }
  const regions = await database.query<Region>(
    `select p.unit_code::int4 as unit, coalesce(t.rows, 0)::int4 as parcels, current_date - p.published_at::date as days
     from ledger.publication p
     left join ledger.publication_table t on t.publication_id = p.publication_id and t.relation = 'core.parcel'
     where p.state = 'current' and p.unit_code > 0
     order by p.unit_code`,
  );
  const [run] = await database.query<{ command: string; code: number }>(
    'select command, exit_code::int4 as code from ledger.run where ended_at is not null order by run_id desc limit 1',
  );
  const failed = run !== undefined && run.code !== 0 ? [`the last run, ${run.command}, ended with exit code ${run.code}: npx mappale status`] : [];
  if (regions.length === 0) return { lines: [`${database.label}: nothing is published`, ...failed], next: FIRST };
  const ages = (days: number): string => (days === 0 ? 'today' : days === 1 ? 'yesterday' : `${days} days ago`);
  const lines = regions.map(({ unit, parcels, days }) => `${unitName(unit)}: ${group(parcels)} parcels, published ${ages(days)}`);
  const [parcel] = await database.query<{ fid: number | null }>("select min(fid) as fid from core.parcel where kind = 'land'");
  return {
    lines: [database.label, ...lines, ...failed],
    next: [
      [`npx mappale parcel ${parcel?.fid ?? 'ID'}`, 'a record'], ['npx mappale serve', 'the read interface and a map, on this machine'],
      ['npx mappale refresh --data ~/downloads', 'what is new in the publishers\' files'], ['npx mappale status', 'tables, releases and the last runs'],
    ],
  };
}
