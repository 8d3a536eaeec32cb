/** Returns the output of `mappale` without a command: the state of the machine, the publications and the next commands. Changes nothing. */
import { readConfig } from '../pipelines/config.ts';
import { loadSources } from '../pipelines/contract/registry.ts';
import { regionName, regionSlug } from '../pipelines/contract/regions.ts';
import type { Database } from '../pipelines/db/index.ts';
import { checkServer } from '../pipelines/db/migrate.ts';
import { mustTakeDatabase } from '../pipelines/db/pglite-folder.ts';
import { appliedFiles, requireCurrent } from '../pipelines/db/state.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { engineText } from '../pipelines/formats/gdal.ts';
import { gdal } from '../pipelines/formats/vector.ts';
import { describeHold, holds } from '../pipelines/ledger/hold.ts';
import { deadRuns } from '../pipelines/ledger/runs.ts';
import { group } from '../pipelines/progress.ts';
import { PACKAGES_SETUP, quoted } from '../pipelines/typed.ts';
import { VERSION } from '../pipelines/program.ts';
import { looking } from './command.ts';
import { statementsOf } from '../pipelines/db/statements.ts';

/** Next commands to type, each with its purpose. */
type Next = readonly (readonly [typed: string, what: string])[];

interface Found {
  /** State of the database. */
  readonly lines: readonly string[];
  readonly next: Next;
}

/** Commands to suggest if no region is published. */
const FIRST: Next = [
  ['npx mappale load-region', 'load a synthetic region with every source'],
  ['npx mappale fetch molise', 'download the files of a region, and list files that need an account'],
  ['npx mappale load-region molise --data data', 'load a region from the downloaded files'],
  ['npx mappale sources', 'list sources, addresses and licences'],
];

/** @throws MappaleError `CONFIG_UNKNOWN`, `CONFIG_DISTRIBUTED` (exit 2) */
export async function firstScreen(): Promise<string> {
  const { databaseUrl } = readConfig();
  const vector = await gdal('GDAL', 'version').then(engineText, () => `GDAL is missing, so vector files cannot be read (to install the packages again, run: ${PACKAGES_SETUP})`);
  const { lines, next } = await look(databaseUrl);
  const width = Math.max(...next.map(([typed]) => typed.length));
  return [
    `mappale ${VERSION}: data on every Italian cadastral parcel, from public files, in one PostGIS database`, '',
    `machine   Node ${process.versions.node}, ${vector}`,
    ...lines.map((line, index) => `${index === 0 ? 'database' : '        '}  ${line}`), '',
    'Next:',
    ...next.map(([typed, what]) => `  ${typed.padEnd(width)}  ${what}`),
    `  ${'npx mappale --help'.padEnd(width)}  list all commands`,
  ].join('\n');
}

async function look(url: string): Promise<Found> {
  try {
    return await looking(url, async (database) => {
      if (database !== null) return published(database);
      await mustTakeDatabase(url.slice('pglite:'.length), 'new');
      return { lines: [`${url}: does not exist yet. The first load creates the database`], next: FIRST };
    });
  } catch (error) {
    if (!(error instanceof MappaleError)) throw error;
    return problemOf(error);
  }
}

function problemOf({ message, code, at, detail, hint, fix }: MappaleError): Found {
  return {
    lines: [`${message} [${code}]`, ...[at, detail, hint].filter((line) => line !== undefined)],
    next: [...(fix === undefined ? [] : [[fix, 'fix this'] as const]), ['npx mappale doctor', 'check this machine and database']],
  };
}

/** The last run of a command. `data` contains the `--data` folders of the last run that had `--data`. */
interface LastRun extends Record<string, unknown> {
  readonly id: number;
  readonly command: string;
  readonly arguments: { readonly data?: readonly string[]; readonly regions?: readonly number[] | null };
  /** Null if the run is active or was interrupted. */
  readonly code: number | null;
  readonly ended: boolean;
  readonly data: readonly string[] | null;
}

const operate = statementsOf('operate');

/** Describes the last run unless it succeeded, and returns the command that continues an interrupted run. @param dead ids of interrupted runs */
function describeLastRun(run: LastRun, dead: ReadonlySet<number>): readonly [lines: readonly string[], again: Next] {
  const { id, command, arguments: { data, regions }, code, ended } = run;
  if (!ended && !dead.has(id)) return [[`${command} is running`], []];
  if (code === 0) return [[], []];
  if (code !== null) return [[`the last run, ${command}, ended with exit code ${code}. For details, run: npx mappale status`], []];
  const broken = `the last run, ${command}, was interrupted. Published data is unchanged`;
  if (data === undefined) return [[broken], []];
  const slugs = (regions ?? []).map(regionSlug);
  const same = ['npx mappale', command === 'watch' ? 'refresh' : command, ...slugs, ...data.flatMap((folder) => ['--data', quoted(folder)])].join(' ');
  return [[broken], [[same, 'continue this run']]];
}

function dataOf(run: LastRun | undefined): string {
  return (run?.data ?? ['FOLDER']).map((folder) => `--data ${quoted(folder)}`).join(' ');
}

/** A published region. `days` is the number of days since its publication. */
type Region = { readonly region: number; readonly parcels: number; readonly days: number };

async function published(database: Database): Promise<Found> {
  if ((await appliedFiles(database)) === null) {
    await checkServer(database, database.label);
    return { lines: [`${database.label}: empty. The first load creates the tables`], next: FIRST };
  }
  try {
    await requireCurrent(database, await loadSources());
  } catch (error) {
    if (!(error instanceof MappaleError)) throw error;
    if (error.code !== 'DATABASE_OUT_OF_DATE') return problemOf(error.knowing({ at: database.label }));
    return { lines: [`${database.label}: ${error.message}`], next: [['npx mappale migrate', 'upgrade the database and keep its rows']] };
  }
  const regions = await database.query<Region>(operate('published_parcels'));
  const [run] = await database.query<LastRun>(operate('last_run'));
  const [last, again] = run === undefined ? [[], []] : describeLastRun(run, await deadRuns(database));
  const withdrawn = [...(await holds(database)).values()].filter(({ kind }) => kind === 'withdrawn');
  const gone = withdrawn.map((hold) => `${regionName(hold.region)}: ${describeHold(hold)}`);
  const back: Next = withdrawn.map(({ region }) => [`npx mappale rollback ${regionSlug(region)}`, 'publish this region again']);
  if (regions.length === 0) return { lines: [`${database.label}: no region is published`, ...gone, ...last], next: [...again, ...back, ...FIRST] };
  const ages = (days: number): string => (days === 0 ? 'today' : days === 1 ? 'yesterday' : `${days} days ago`);
  const lines = regions.map(({ region, parcels, days }) => `${regionName(region)}: ${group(parcels)} parcels, published ${ages(days)}`);
  const [parcel] = await database.query<{ fid: number | null }>(operate('first_land_parcel'));
  return {
    lines: [database.label, ...lines, ...gone, ...last],
    next: [
      ...again, ...back,
      [`npx mappale parcel ${parcel?.fid ?? 'ID'}`, 'print a record'], ['npx mappale serve', 'start the API and the map on this machine'],
      [`npx mappale refresh ${dataOf(run)}`, 'load new files'], ['npx mappale status', 'show tables, releases and the last runs'],
    ],
  };
}
