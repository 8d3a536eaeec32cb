/**
 * Upgrades a database to this version of the program. Numbered migrations run once. The SQL of section tables, functions and views runs again after a change.
 * Existing layers are changed to match their new definition. Only commands that write upgrade a database. Read-only commands only check the version.
 */
import { existsSync } from 'node:fs';
import { MappaleError } from '../errors.ts';
import { regionName } from '../contract/regions.ts';
import { group } from '../progress.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { tableOf, type SqlFile } from '../contract/sql-files.ts';
import { distribute, isDistributed, prepareNodes } from './distributed.ts';
import { dropPast, forgetHistory, makeHistory } from './history.ts';
import { damaged, damageOf, describeDamage, isFunction, isLost, isReadByRecords, repairTables, type Damage } from './objects.ts';
import { dropRegionSchemas, makeRegionSchemas } from './region-schemas.ts';
import { alignPrevious, reshapeLayers } from './reshape.ts';
import { byAdministrator, type ServerPlace } from './server-address.ts';
import { SEARCH_PATH } from './server-facts.ts';
import { appliedFiles, isApplied, partsOf, refuseNewer, type Applied, type Part } from './state.ts';
import { statementsOf } from './statements.ts';
import { ident, one, type Database, type Row, type Session } from './types.ts';

const server = statementsOf('server');

const MINIMUM = { postgres: 15, postgis: [3, 3] } as const;
/** PostgreSQL extensions that every database needs, in the order in which they are created. */
export const EXTENSIONS = ['postgis', 'pg_trgm', 'unaccent', 'fuzzystrmatch'] as const;

export interface MigrateOptions {
  /** True to delete rows that do not fit the new tables. Set only if the user requests it. */
  readonly lose?: boolean;
  /** True to return the steps without changing the database. */
  readonly dry?: boolean;
  /** True to distribute the tables that are partitioned by `fid` over several Citus nodes. */
  readonly distributed?: boolean;
}

/** A source whose layers cannot be upgraded without losing rows. */
interface Loss {
  readonly source: string;
  readonly why: readonly string[];
  readonly releases: readonly { readonly vintage: string; readonly region: number | null; readonly rows: number }[];
  readonly rows: number;
  /** Number of files from which the rows were read. */
  readonly files: number;
  readonly gone: readonly string[];
}

export interface Migration {
  /** Steps that were done (or would be done, in a dry run), as text. */
  readonly steps: readonly string[];
  readonly losses: readonly Loss[];
}

const NOTHING: Migration = { steps: [], losses: [] };

/**
 * Checks the server, then runs new and changed SQL files and repairs functions, grants, views, indexes and constraints in one transaction. May be called at
 * every start.
 * @returns the steps and losses
 * @throws MappaleError `POSTGRES_TOO_OLD`, `EXTENSION_MISSING`, `EXTENSION_FORBIDDEN`, `POSTGIS_TOO_OLD`, `MIGRATION_CHANGED`, `DATABASE_NEWER`,
 *   `ALREADY_RUNNING`; `CATALOGUE_DAMAGED` for objects that cannot be repaired, such as lost tables, after all other repairs; `MIGRATION_LOSES` (exit 2) for
 *   rows that would be lost, before any change; the errors of `prepareNodes`
 */
export async function migrate(
  database: Database, sources: readonly RegisteredSource[], { lose = false, dry = false, distributed = false }: MigrateOptions = {},
): Promise<Migration> {
  const parts = partsOf(sources);
  return database.session(async (session) => {
    const applied = await appliedFiles(session);
    if (applied !== null) refuseNewer(parts, applied);
    const isCurrent = async (before: Applied): Promise<boolean> =>
      parts.every((part) => isApplied(part, before)) && (!distributed || (await isDistributed(session)));
    if (applied !== null && (await isCurrent(applied)) && (await damageOf(session, parts)).length === 0) return NOTHING;
    await checkServer(session, database.label);
    const place = database.engine === 'pglite' ? null : await one<Row & ServerPlace>(session, server('place'));
    if (distributed || (await isDistributed(session))) await prepareNodes(session, database.label, dry ? 'look' : 'prepare');
    let done = NOTHING;
    let left: readonly Damage[] = [];
    await session.transaction(async () => {
      await session.query("select pg_advisory_xact_lock(hashtextextended('mappale migrate', 0))");
      // Reads the applied files again, because another command may have upgraded the database while this command waited.
      const before = (await appliedFiles(session)) ?? new Map<string, never>();
      refuseNewer(parts, before);
      const current = await isCurrent(before);
      const damage = current ? await damageOf(session, parts) : [];
      if (current && damage.length === 0) return;
      await holdWriters(session);
      if (place !== null) await makeExtensions(session, place, database.label);
      // Constraints are repaired before views, because the views of past rows compare the keys of tables.
      const repairs = await repairTables(session, damage);
      const repairsFunctions = damage.some(isFunction) && !damage.some(isReadByRecords);
      if (!current || repairsFunctions) done = await apply(session, parts, repairsFunctions ? withoutFunctions(parts, before) : before, { lose, distributed });
      if (done.losses.length > 0 && !lose && !dry) throw lossError(done.losses);
      if (repairsFunctions) repairs.push(...damage.filter(isFunction).map((each) => `repaired: ${describeDamage(each)}`));
      if (!current && done.losses.length === 0) repairs.push(...await repairTables(session, await damageOf(session, parts)));
      done = { ...done, steps: [...done.steps, ...repairs] };
      left = done.losses.length > 0 ? [] : [...damage.filter(isLost), ...await damageOf(session, parts)];
      if (dry) throw new Dry();
    }).catch((error: unknown) => {
      if (error instanceof MappaleError && error.code === 'SQL_42501' && place !== null) throw mayNotWrite(error, place, database.label);
      if (!(error instanceof Dry)) throw error;
    });
    if (left.length > 0) throw damaged(left.filter(({ kind, name }, index) => left.findIndex((other) => other.kind === kind && other.name === name) === index));
    return done;
  });
}

/** Returns the applied files without the files of functions and views, so that these files run again. */
function withoutFunctions(parts: readonly Part[], before: Applied): Applied {
  const functions = new Set(parts.filter(({ kind }) => ['function', 'interface', 'view'].includes(kind)).map(({ file }) => file.file));
  return new Map([...before].filter(([file]) => !functions.has(file)));
}

/** Error that is thrown to roll back a dry run. */
class Dry extends Error {}

/** Creates the extensions, before all other steps, because some extensions need an administrator. @throws MappaleError `EXTENSION_FORBIDDEN` */
async function makeExtensions(session: Session, place: ServerPlace, label: string): Promise<void> {
  const installed = await session.query<{ name: string; installed: boolean }>(server('extensions'), [EXTENSIONS]);
  const lacking = EXTENSIONS.filter((name) => !installed.some((each) => each.name === name && each.installed));
  for (const name of lacking) {
    await session.query(`create extension if not exists ${name} schema ${SEARCH_PATH}`).catch((error: unknown) => {
      if (!(error instanceof MappaleError) || error.code !== 'SQL_42501') throw error;
      throw new MappaleError(`the role may not create the extension ${name}`, {
        code: 'EXTENSION_FORBIDDEN', kind: 'database', at: label, detail: `expected ${lacking.join(', ')} in the database, or the right to create extensions, found neither`,
        hint: 'Ask an administrator of the server to create the extensions once, then run the command again.',
        fix: byAdministrator(place, lacking.map((each) => `create extension if not exists ${each} schema ${SEARCH_PATH}`).join('; ')), cause: error,
      });
    });
  }
}

function mayNotWrite({ message, hint }: MappaleError, place: ServerPlace, label: string): MappaleError {
  return new MappaleError('the role may not create schemas', {
    code: 'SQL_42501', kind: 'database', at: label, detail: `expected the right to create schemas, found: ${message}`, hint,
    fix: byAdministrator(place, `grant create on database ${ident(place.database)} to ${ident(place.user)}`),
  });
}

/** Takes the lock that blocks other writers during the upgrade. @throws MappaleError `ALREADY_RUNNING` (exit 7) */
async function holdWriters(session: Session): Promise<void> {
  const writer = await one<{ taken: boolean }>(session, "select pg_try_advisory_xact_lock(hashtextextended('mappale writer', 0)) as taken");
  if (writer.taken) return;
  throw new MappaleError('another run is writing to this database', {
    code: 'ALREADY_RUNNING', kind: 'locked', detail: 'expected no other writer during the upgrade, found a run that writes', hint: 'Wait until the other run ends, then run the same command again.',
  });
}

/** Runs new and changed SQL files. If rows of a source would be lost and `lose` is not set, the source's layers stay unchanged. */
async function apply(
  session: Session, parts: readonly Part[], before: Applied, { lose, distributed }: Required<Pick<MigrateOptions, 'lose' | 'distributed'>>,
): Promise<Migration> {
  await session.script(server('applied_file'), 'sql/statements/server.sql');
  // Does not check the bodies of functions, because a function may call functions of files that run later.
  await session.query('set local check_function_bodies = off');
  const open = parts.filter((part) => !isApplied(part, before));
  // Earlier versions stored the digest of the file's bytes. Replaces this digest with a digest that ignores comments and layout.
  for (const part of parts) if (!open.includes(part) && before.get(part.file.file)?.digest !== part.file.digest) await noteApplied(session, part);
  refuseChangedMigration(open, before);
  const run = (kind: Part['kind']): Promise<string[]> => runParts(session, open.filter((each) => each.kind === kind));
  const reads = open.some(({ kind }) => kind !== 'layer');
  if (reads) {
    await dropRegionSchemas(session);
    await dropPast(session);
  }
  const steps = [...(await run('migration')), ...(await run('section')), ...(await alignPrevious(session))];
  if (distributed || (await isDistributed(session))) {
    steps.push(...(await distribute(session)));
    await forgetHistory(session);
  }
  const layers = await applyLayers(session, open, before, lose ? 'drop' : 'keep');
  steps.push(...layers.steps, ...(await run('function')));
  if (open.some(({ kind }) => kind === 'interface')) {
    await replaceInterface(session, parts);
    steps.push('sql/api: the API functions, created again');
  }
  if (reads) {
    await makeHistory(session);
    await makeRegionSchemas(session);
    for (const part of open.filter(({ kind }) => kind === 'view')) {
      await noteApplied(session, part);
      steps.push(`${part.file.file}: ${part.file.purpose}`);
    }
  }
  return { steps, losses: layers.losses };
}

async function noteApplied(session: Session, { file, source }: Part): Promise<void> {
  await session.query(server('note_applied'), [file.file, file.digest, source?.manifest.version ?? null]);
}

/** @throws MappaleError `MIGRATION_CHANGED` (exit 6) */
function refuseChangedMigration(open: readonly Part[], before: Applied): void {
  const changed = open.find(({ kind, file }) => kind === 'migration' && before.has(file.file));
  if (changed === undefined) return;
  throw new MappaleError('a migration was changed after it was applied', {
    code: 'MIGRATION_CHANGED', kind: 'database', at: changed.file.file, hint: 'Put the change into a new migration with the next number.',
  });
}

/** Runs SQL files in the given order. @returns the steps as text */
async function runParts(session: Session, parts: readonly Part[]): Promise<string[]> {
  for (const part of parts) {
    await session.script(part.file.text, part.file.file);
    await noteApplied(session, part);
  }
  return parts.map(({ file }) => `${file.file}: ${file.purpose}`);
}

/** Creates or changes the layers of sources. @param onLoss `drop` deletes rows that cannot be kept; `keep` leaves such layers unchanged */
async function applyLayers(session: Session, open: readonly Part[], before: Applied, onLoss: 'drop' | 'keep'): Promise<{ steps: readonly string[]; losses: readonly Loss[] }> {
  const steps: string[] = [];
  const losses: Loss[] = [];
  for (const part of open) {
    if (part.source === null) continue;
    const found = before.has(part.file.file) ? await changeLayer(session, part.file, part.source, onLoss) : await createLayer(session, part.file, part.source);
    steps.push(...found.steps);
    if (found.loss !== null) losses.push(found.loss);
    await noteApplied(session, part);
  }
  return { steps, losses };
}

/** Drops and recreates all API functions. */
async function replaceInterface(session: Session, parts: readonly Part[]): Promise<void> {
  await session.script(server('new_interface'), 'sql/statements/server.sql');
  await runParts(session, parts.filter(({ kind }) => kind === 'interface'));
}

interface LayerChange {
  readonly steps: readonly string[];
  readonly loss: Loss | null;
}

async function createLayer(session: Session, file: SqlFile, source: RegisteredSource): Promise<LayerChange> {
  await session.script(file.text, file.file);
  return { steps: [`${source.folder}: ${file.purpose}`], loss: null };
}

async function changeLayer(session: Session, file: SqlFile, source: RegisteredSource, onLoss: 'drop' | 'keep'): Promise<LayerChange> {
  const former = await session.query<{ name: string }>(server('former_layers'), [source.id]);
  const { steps, losses } = await reshapeLayers(session, file, former.map(({ name }) => name));
  if (losses.length === 0) return { steps, loss: null };
  const loss = await lossOf(session, source, losses);
  if (onLoss === 'keep') return { steps: [], loss };
  for (const relation of file.writes) await session.query(`drop table if exists ${ident('layer', tableOf(relation))} cascade`);
  await session.query('delete from ledger.release where source_id = $1', [source.id]);
  await session.script(file.text, file.file);
  return { steps: [`${source.id}: ${group(loss.rows)} rows of ${loss.releases.length} releases deleted (${losses.join('; ')})`], loss };
}

/** Finds the releases and rows that a source would lose. Also counts the files from which the rows were read, and lists the missing files among them. */
async function lossOf(session: Session, source: RegisteredSource, why: readonly string[]): Promise<Loss> {
  const releases = await session.query<{ vintage: string; region: number | null; rows: number }>(server('loaded_releases'), [source.id]);
  const files = await session.query<{ path: string }>(server('read_files'), [source.id]);
  return {
    source: source.id, why, releases, rows: releases.reduce((sum, { rows }) => sum + rows, 0), files: files.length,
    gone: files.map(({ path }) => path).filter((path) => !existsSync(path)),
  };
}

/** Returns the error that lists the sources and releases whose rows cannot be kept. */
function lossError(losses: readonly Loss[]): MappaleError {
  return new MappaleError('the upgrade to this version of the program would lose rows of the database', {
    code: 'MIGRATION_LOSES', kind: 'usage', at: losses.map(({ source }) => `sources/${source}`).join(', '), detail: losses.map(describeLoss).join('\n          '),
    hint: 'Nothing was changed. First restore missing files, so that the next refresh reads these files again.', fix: 'npx mappale migrate --yes',
  });
}

export function describeLoss({ source, why, releases, rows, files, gone }: Loss): string {
  const list = releases.map(({ vintage, region }) => `${vintage}${region === null ? '' : ` ${regionName(region)}`}`);
  const all = `${files} file${files === 1 ? '' : 's'}`;
  return `${source}: ${why.join('; ')}. The upgrade would lose ${group(rows)} rows of ${list.length} release${list.length === 1 ? '' : 's'} (${list.join(', ')}), which were read from ${all}. `
    + (gone.length === 0 ? 'All files still exist' : `Files that no longer exist, so that their rows cannot be read again: ${gone.join(', ')}`);
}

/** Checks the versions and extensions of the server. @throws MappaleError `POSTGRES_TOO_OLD`, `EXTENSION_MISSING`, `POSTGIS_TOO_OLD` */
export async function checkServer(session: Session, label: string): Promise<void> {
  const version = (await one<{ version: string }>(session, "select current_setting('server_version') as version")).version;
  const postgres = Number.parseInt(version, 10);
  if (postgres < MINIMUM.postgres) {
    throw new MappaleError('the PostgreSQL server is too old', {
      code: 'POSTGRES_TOO_OLD', kind: 'database', at: label, detail: `expected PostgreSQL 15 or newer, found ${version}`, hint: 'Upgrade the server, or unset DATABASE_URL to use the embedded database.',
      fix: 'sudo apt-get install -y postgresql-15 postgresql-15-postgis-3',
    });
  }
  const available = await session.query<{ name: string; version: string; installed: boolean }>(server('extensions'), [EXTENSIONS]);
  for (const extension of EXTENSIONS) {
    const found = available.find(({ name }) => name === extension);
    if (found === undefined) {
      throw new MappaleError(`the server has no extension ${extension}`, {
        code: 'EXTENSION_MISSING', kind: 'database', at: label,
        hint: 'Install the extension on the database server, then run the command again.',
        fix: extension === 'postgis' ? `sudo apt-get install -y postgresql-${postgres}-postgis-3` : 'sudo apt-get install -y postgresql-contrib',
      });
    }
    if (extension === 'postgis') {
      const [major = 0, minor = 0] = found.version.split('.').map(Number);
      if (major < MINIMUM.postgis[0] || (major === MINIMUM.postgis[0] && minor < MINIMUM.postgis[1])) {
        throw new MappaleError('PostGIS is too old', {
          code: 'POSTGIS_TOO_OLD', kind: 'database', at: label, detail: `expected PostGIS 3.3 or newer, found ${found.version}`, hint: 'Install a newer version on the database server. If the server already has a newer version, run: alter extension postgis update.',
          fix: `sudo apt-get install -y postgresql-${postgres}-postgis-3`,
        });
      }
    }
  }
}
