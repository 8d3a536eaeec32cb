/** Steps 3 and 4a: staging → layers of one release, accounted for, checked, and attached as partitions. */
import type { Database, Session } from '../db/index.ts';
import {
  analyze, analyzeRoughly, attach, copyMembers, countByMember, countRows, createSchema, dropSchema, inWorkspace, proveBound, provideRelease, recordPlaces,
  recordWholeFiles, renameIndexes, repeatingMembers, tablesIn,
} from '../db/catalog.ts';
import { inputError } from '../errors.ts';
import { NO_DATA } from '../readers/no-data.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { tableOf } from '../contract/sql-files.ts';
import type { Log } from '../log.ts';
import { refuseViolations, runChecks, type Warning } from '../db/checks.ts';
import { checksOf } from '../db/source-checks.ts';
import { statementsOf } from '../db/statements.ts';
import { leftStaging, stagingSchema } from '../db/workspace.ts';
import { labelOf, refuseLoss, refuseRejects, type Counts, type Staged } from './stage.ts';
import { fence } from '../ledger/ledger.ts';

const statement = statementsOf('ingest');

/** The release's layers are attached and will never change. */
export interface Loaded extends Counts {
  readonly releaseId: number;
  /** What checks found that stops nothing. */
  readonly warnings: readonly Warning[];
}

/**
 * Runs the source's load.sql in the release's workspace, accounts for every staged row, runs its checks and attaches the layers.
 * @throws MappaleError `ACCOUNTING`, `TOO_MANY_REJECTS` (exit 4), `CHECKS_FAILED` (exit 5), `NO_RECORDS` (exit 3); Repetition
 */
export async function load(database: Database, staged: Staged, runId: number, log: Log): Promise<Loaded> {
  const { located, schema, releaseId } = staged;
  const { source } = located;
  const layers = source.layer.writes;
  const { counts, held, warnings } = await inWorkspace(database, schema, async (session) => {
    await session.query(statement('provide_release'), [releaseId]);
    // Those that are read: rows of members that are taken over come from where they were made.
    await provideMembers(session, releaseId, false);
    for (const table of Object.keys(source.tables)) await analyze(session, schema, table);
    await runLoad(session, source);
    await takeOver(session, staged);
    await provideMembers(session, releaseId, true);
    await refuseRepetition(session, staged);
    const made = new Set(await tablesIn(session, schema));
    for (const layer of layers) {
      if (!made.has(tableOf(layer))) throw new Error(`${source.load.file} did not make ${tableOf(layer)}`);
      // Where members were taken over, what is made next reads the others of them, and the whole for its checks.
      await (staged.reused.length > 0 ? analyzeRoughly : analyze)(session, schema, tableOf(layer));
    }
    const accounted = await account(session, staged);
    const found = refuseViolations(source.id, await runChecks(session, checksOf(source)), log);
    if (located.complete && accounted.counts.rows === 0) {
      throw inputError('a file that is packaged as complete holds no record that can be used', {
        code: 'NO_RECORDS', at: located.files.map(({ name }) => name).join(', '), detail: 'expected records, found none', hint: 'Download it again and compare its size with the publisher\'s.',
      });
    }
    await recordPlacesOf(session, schema, source, releaseId);
    return { ...accounted, warnings: found };
  });
  await database.session(async (session) => {
    for (const layer of layers) {
      await proveBound(session, schema, tableOf(layer), layer, 'release', releaseId);
      await renameIndexes(session, schema, tableOf(layer), `${tableOf(layer)}_${releaseId}`);
    }
    await session.transaction(async () => {
      await fence(session, runId);
      for (const layer of [...layers].sort()) await attach(session, { schema, table: tableOf(layer) }, layer, `${tableOf(layer)}_${releaseId}`, 'release', releaseId);
      await session.query(statement('finish'), [releaseId, counts.records, counts.rows, counts.rejects, counts.duplicates, JSON.stringify(held)]);
      await session.query('update ledger.file set present = true, arrived_run = $2 where release_id = $1', [releaseId, runId]);
    });
    await dropSchema(session, schema);
  });
  return { releaseId, ...counts, warnings };
}

/** Fills the layers in a workspace: finds the rows that repeat a key, runs the source's load.sql, and rejects the polygons of which nothing is left. */
export async function runLoad(session: Session, source: Pick<RegisteredSource, 'load' | 'layers' | 'repeats' | 'keys'>): Promise<void> {
  const { load: file, layers, repeats = {}, keys = {} } = source;
  for (const [staging, code] of Object.entries(repeats)) {
    await session.query(statement('duplicates'));
    await session.query(statement('note_repeats', { staging, columns: keys[staging] ?? [] }), [code]);
  }
  await session.script(file.text, file.file);
  await session.query(statement('rejects'));
  for (const [layer, { areasOf }] of Object.entries(layers)) {
    if (areasOf !== undefined) await session.query(statement('reject_without_area', { staging: areasOf, layer }));
  }
}

/** The table `member`: the members of a release and their files. @param all also those that were taken over */
async function provideMembers(session: Session, releaseId: number, all: boolean): Promise<void> {
  await session.query('drop table if exists member');
  await session.query(statement('provide_members'), [releaseId, all]);
}

/** Rows of members that an earlier release already holds, copied inside the database, with what was refused of them. */
async function takeOver(session: Session, { schema, located, releaseId, reused }: Staged): Promise<void> {
  if (reused.length === 0) return;
  for (const layer of located.source.layer.writes) await copyMembers(session, schema, layer, releaseId, reused);
  const pairs = [reused.map(({ memberId }) => memberId), reused.map(({ fromMemberId }) => fromMemberId)];
  for (const name of ['take_rejects', 'take_duplicates']) await session.query(statement(name), [releaseId, ...pairs]);
  await session.query(statement('take_added_columns'), pairs);
}

/** Members that were taken over say something again that another one of their file says: they are to be read with it, as if for the first time. */
export class Repetition extends Error {
  readonly paths: ReadonlySet<string>;

  constructor(paths: ReadonlySet<string>) {
    super(`${paths.size} members cannot be taken over`);
    this.paths = paths;
  }
}

/** @throws Repetition */
async function refuseRepetition(session: Session, { schema, located, reused }: Staged): Promise<void> {
  if (reused.length === 0) return;
  const repeating = new Set<number>();
  for (const [layer, columns] of Object.entries(located.source.unique ?? {})) {
    for (const memberId of await repeatingMembers(session, schema, layer, columns)) repeating.add(memberId);
  }
  const paths = reused.filter(({ memberId }) => repeating.has(memberId)).map(({ path }) => path);
  if (paths.length > 0) throw new Repetition(new Set(paths));
}

/** Writes the places of each file of a release into the ledger, layer by layer. Runs in the workspace of the layers. */
async function recordPlacesOf(session: Session, schema: string, source: RegisteredSource, releaseId: number): Promise<void> {
  if (source.placesOf !== null) {
    await session.script(source.placesOf.text, source.placesOf.file);
    await session.query(statement('note_places'));
  }
  for (const layer of source.layer.writes.map(tableOf)) {
    const columns = source.places?.[layer];
    if (columns === undefined) await recordWholeFiles(session, schema, layer, releaseId);
    else if (source.placesOf === null) await recordPlaces(session, schema, layer, columns);
  }
}

/** Releases that were loaded before places were noted. Their files may be gone: what they speak of is asked of their layers. */
export async function notePlacesOfOldReleases(database: Database, sources: readonly RegisteredSource[]): Promise<void> {
  for (const { id, source: sourceId } of await database.query<{ id: number; source: string }>(statement('releases_without_places'))) {
    const source = sources.find((each) => each.id === sourceId);
    if (source === undefined) continue;
    const schema = stagingSchema(id);
    await dropSchema(database, schema);
    await createSchema(database, schema);
    await inWorkspace(database, schema, (session) => session.transaction(async () => {
      await provideMembers(session, id, true);
      for (const layer of source.layer.writes) await provideRelease(session, schema, layer, id);
      await recordPlacesOf(session, schema, source, id);
    }));
    await dropSchema(database, schema);
  }
}

/**
 * Writes what load.sql refused into the ledger and holds, member by member, records = rows + rejects + duplicates.
 * @returns what the release came to, and how many rows each layer holds
 */
async function account(session: Session, { schema, releaseId, located }: Staged): Promise<{ counts: Counts; held: Record<string, number> }> {
  const { source } = located;
  const rows = new Map<number, number>();
  const held: Record<string, number> = {};
  for (const layer of source.layer.writes.map(tableOf)) {
    if (!source.manifest.layers.includes(layer)) {
      held[layer] = await countRows(session, schema, layer);
      continue;
    }
    const found = await countByMember(session, schema, layer);
    for (const { member_id: id, n, distinct_n: distinct } of found) {
      if (n !== distinct) throw new Error(`${source.load.file}: ${layer} has a record more than once (member ${id})`);
      rows.set(id, (rows.get(id) ?? 0) + n);
    }
    held[layer] = found.reduce((sum, { n }) => sum + n, 0);
  }
  // load.sql creates these tables if it needs them.
  await session.query(statement('duplicates'));
  await session.query('create table if not exists entangled (member_id int4)');
  for (const name of ['note_rejects', 'note_duplicates']) await session.query(statement(name), [releaseId]);
  const members = await session.query<Counts & { name: string; path: string } & Record<string, unknown>>(statement('account'), [releaseId, [...rows.keys()], [...rows.values()]]);
  for (const { name, path, ...each } of members) refuseLoss(labelOf(name, path), each, 'loading');
  const sum = (of: keyof Counts): number => members.reduce((total, each) => total + each[of], 0);
  const counts = { records: sum('records'), rows: sum('rows'), rejects: sum('rejects'), duplicates: sum('duplicates') };
  const [without] = await session.query<{ records: number }>(statement('without_value'), [releaseId, NO_DATA]);
  refuseRejects(located, counts.records, counts.rejects - (without?.records ?? 0));
  return { counts, held };
}

/** Throws away what an interrupted run left: workspaces of releases that are not loaded. */
export async function recoverStaging(database: Database): Promise<string[]> {
  return database.session(async (session) => {
    const left = await leftStaging(session);
    for (const schema of left) await dropSchema(session, schema);
    await session.query("delete from ledger.release where state = 'staging'");
    return left;
  });
}
