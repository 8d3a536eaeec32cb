/**
 * Steps 3 and 4a of a refresh: moves staged rows to the layers of one release and accounts for every record. Then checks the layers and attaches the layers as
 * partitions.
 */
import { one, type Database, type Session } from '../db/index.ts';
import { copyMembers } from '../db/changed-rows.ts';
import { analyze, analyzeRoughly, countRows, createSchema, dropSchema, lookIn, renameIndexes, sumOfRows, tablesIn } from '../db/ddl.ts';
import { countByMember, inWorkspace, provide, provideRelease, provideWithReferred, recordPlaces, recordWholeFiles, repeatingMembers } from '../db/layers.ts';
import { attach, proveBound } from '../db/partitions.ts';
import { inputError } from '../errors.ts';
import { NO_DATA } from '../readers/no-data.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { tableOf } from '../contract/sql-files.ts';
import type { Log } from '../log.ts';
import { refuseViolations, runChecks, type Warning } from '../db/checks.ts';
import { checksOf } from '../db/source-checks.ts';
import { statementsOf } from '../db/statements.ts';
import { leftStaging, stagingSchema, wholeSchema } from '../db/workspace.ts';
import { labelOf, refuseLoss, refuseRejects, type Counts, type Staged } from './stage.ts';
import { fence } from '../ledger/runs.ts';

const statement = statementsOf('ingest');

/** A release whose layers are attached. A loaded release never changes. */
export interface Loaded extends Counts {
  readonly releaseId: number;
  /** Warnings of the source's checks. */
  readonly warnings: readonly Warning[];
}

/**
 * Runs the source's load.sql in the release's workspace, accounts for every staged row, runs the checks and attaches the layers.
 * @throws MappaleError `ACCOUNTING` (exit 1), `TOO_MANY_REJECTS` (exit 4), `CHECKS_FAILED` (exit 5), `NO_RECORDS` (exit 3); Repetition if reused members must
 * be read again
 */
export async function load(database: Database, staged: Staged, runId: number, log: Log): Promise<Loaded> {
  const { located, schema, releaseId } = staged;
  const { source } = located;
  const layers = source.layer.writes;
  const { counts, held, warnings } = await inWorkspace(database, schema, async (session) => {
    await session.query(statement('provide_release', { release: releaseId }));
    // Only members that this run read have staged rows. The rows of reused members are already in the database.
    await provideMembers(session, releaseId, 'read');
    for (const table of Object.keys(source.tables)) await analyze(session, schema, table);
    await runLoad(session, source);
    await takeOver(session, staged);
    if (staged.reused.length > 0) await provideMembers(session, releaseId, 'all');
    const whole = await provideWhole(session, staged);
    await refuseRepetition(session, staged, whole);
    const made = new Set(await tablesIn(session, schema));
    for (const layer of layers) {
      if (!made.has(tableOf(layer))) throw new Error(`${source.load.file} did not create ${tableOf(layer)}`);
      // If members are reused, a third of the usual sample is sufficient for the planner.
      await (staged.reused.length > 0 ? analyzeRoughly : analyze)(session, schema, tableOf(layer));
    }
    const accounted = await account(session, staged, whole);
    await lookIn(session, [whole, schema]);
    const found = refuseViolations(source.id, await runChecks(session, checksOf(source)), log);
    if (located.complete && accounted.counts.rows === 0) {
      throw inputError('a complete file contains no usable record', {
        code: 'NO_RECORDS', at: located.files.map(({ name }) => name).join(', '), detail: 'expected records, found none', hint: 'Download the file again and compare its size with the publisher\'s.',
      });
    }
    await recordPlacesOf(session, whole, source, releaseId);
    if (whole !== schema) await dropSchema(session, whole);
    return { ...accounted, warnings: found };
  });
  await database.session(async (session) => {
    for (const layer of layers) {
      await proveBound(session, { schema, table: tableOf(layer) }, layer, { split: 'release', key: releaseId });
      await renameIndexes(session, schema, tableOf(layer), `${tableOf(layer)}_${releaseId}`);
    }
    await session.transaction(async () => {
      await fence(session, runId);
      for (const layer of [...layers].sort()) await attach(session, { schema, table: tableOf(layer) }, layer, `${tableOf(layer)}_${releaseId}`, { split: 'release', key: releaseId });
      await session.query(statement('name_documents'), [releaseId]);
      await session.query(statement('finish'), [releaseId, counts.records, counts.rows, counts.rejects, counts.duplicates, JSON.stringify(held)]);
      await session.query(statement('note_loaded'), [releaseId, runId]);
    });
    await dropSchema(session, schema);
  });
  return { releaseId, ...counts, warnings };
}

/** Fills the layers in a workspace. Finds rows with a repeated key, runs the source's load.sql, and rejects polygons without an area. */
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

/**
 * Creates the table `member` with the members of a release and the file of each member.
 * @param which `read`: only members that this run read; `all`: all members, including reused members
 */
async function provideMembers(session: Session, releaseId: number, which: 'read' | 'all'): Promise<void> {
  await session.query(statement('drop_members'));
  await session.query(statement('provide_members'), [releaseId, which === 'all']);
}

/**
 * Copies the rejects, duplicates and added columns of reused members to this release. Copies the members' rows only if this release does not refer to the rows.
 */
async function takeOver(session: Session, { schema, located, releaseId, reused }: Staged): Promise<void> {
  if (reused.length === 0) return;
  const copied = reused.filter(({ rows }) => rows === 'copied');
  if (copied.length > 0) for (const layer of located.source.layer.writes) await copyMembers(session, schema, layer, releaseId, copied);
  const pairs = [reused.map(({ memberId }) => memberId), reused.map(({ fromMemberId }) => fromMemberId)];
  for (const name of ['take_rejects', 'take_duplicates']) await session.query(statement(name), [releaseId, ...pairs]);
  await session.query(statement('take_added_columns'), pairs);
}

/**
 * Creates views of the complete layers, which include the rows of other releases to which this release refers. @returns the schema of the views, or the
 * workspace if the release refers to no rows of other releases
 */
async function provideWhole(session: Session, { schema, located, releaseId, reused }: Staged): Promise<string> {
  const referred = reused.filter(({ rows }) => rows === 'referred');
  if (referred.length === 0) return schema;
  const whole = wholeSchema(releaseId);
  await dropSchema(session, whole);
  await createSchema(session, whole);
  for (const layer of located.source.layer.writes) await provideWithReferred(session, whole, layer, { schema, table: tableOf(layer) }, referred);
  await provide(session, whole, 'member', 'all_rows', { from: { schema, table: 'member' } });
  return whole;
}

/** Error for reused members that have a record in common with a different member of the release. The reused members in `paths` must be read again. */
export class Repetition extends Error {
  readonly paths: ReadonlySet<string>;

  constructor(paths: ReadonlySet<string>) {
    super(`${paths.size} members cannot be reused`);
    this.paths = paths;
  }
}

/** Checks that reused members have no record in common with other members. @throws Repetition */
async function refuseRepetition(session: Session, { schema, located, reused }: Staged, whole: string): Promise<void> {
  if (reused.length === 0) return;
  const ids = [reused.map(({ memberId }) => memberId), reused.map(({ fromMemberId }) => fromMemberId)];
  const { compared } = await one<{ compared: boolean }>(session, statement('compared_members'), ids);
  const own = compared ? schema : whole;
  const { unique = {}, groups = {} } = located.source;
  const repeating = new Set<number>();
  for (const [layer, columns] of Object.entries(unique)) {
    for (const memberId of await repeatingMembers(session, { whole, own }, layer, { columns, groups: groups[layer] ?? null })) repeating.add(memberId);
  }
  const paths = reused.filter(({ memberId, fromMemberId, rows }) => repeating.has(rows === 'referred' ? fromMemberId : memberId)).map(({ path }) => path);
  if (paths.length > 0) throw new Repetition(new Set(paths));
}

/** Records the places of each file of a release in the ledger, layer by layer. The session must be in the workspace of the layers. */
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

/** A release that an older version of the program loaded without places. */
export interface OldRelease extends Record<string, unknown> {
  readonly id: number;
  /** Id of the source. */
  readonly source: string;
}

/**
 * Records the places of releases that older versions of the program loaded without places. Reads the places from the layers, because the files may no longer
 * exist.
 */
export async function notePlacesOfOldReleases(database: Database, sources: readonly RegisteredSource[], releases: readonly OldRelease[]): Promise<void> {
  for (const { id, source: sourceId } of releases) {
    const source = sources.find((each) => each.id === sourceId);
    if (source === undefined) continue;
    const schema = stagingSchema(id);
    await dropSchema(database, schema);
    await createSchema(database, schema);
    await inWorkspace(database, schema, (session) => session.transaction(async () => {
      await provideMembers(session, id, 'all');
      for (const layer of source.layer.writes) await provideRelease(session, schema, layer, id);
      await recordPlacesOf(session, schema, source, id);
    }));
    await dropSchema(database, schema);
  }
}

/**
 * Writes the rejects and duplicates of load.sql to the ledger, and verifies records = rows + rejects + duplicates for each member.
 * @param whole schema of the complete layers
 * @returns the counts of the release, and the number of rows of each layer
 * @throws MappaleError `ACCOUNTING` (exit 1), `TOO_MANY_REJECTS` (exit 4)
 */
async function account(session: Session, { schema, releaseId, located }: Staged, whole: string): Promise<{ counts: Counts; held: Record<string, number> }> {
  const { source } = located;
  const rows = new Map<number, number>();
  const held: Record<string, number> = {};
  for (const layer of source.layer.writes.map(tableOf)) {
    const groups = source.groups?.[layer];
    held[layer] = groups === undefined ? await countRows(session, whole, layer) : await sumOfRows(session, whole, groups.layer, groups.rows);
    if (!source.manifest.layers.includes(layer)) continue;
    const found = await countByMember(session, schema, layer);
    for (const { member_id: id, n, distinct_n: distinct } of found) {
      if (n !== distinct) throw new Error(`${source.load.file}: ${layer} has a record more than once (member ${id})`);
      rows.set(id, (rows.get(id) ?? 0) + n);
    }
  }
  // Creates the tables `duplicates` and `entangled`, if load.sql did not create these tables.
  await session.query(statement('duplicates'));
  await session.query(statement('entangled'));
  for (const name of ['note_rejects', 'note_duplicates']) await session.query(statement(name), [releaseId]);
  const members = await session.query<Counts & { name: string; path: string } & Record<string, unknown>>(statement('account'), [releaseId, [...rows.keys()], [...rows.values()]]);
  for (const { name, path, ...each } of members) refuseLoss(labelOf(name, path), each, 'loading');
  const sum = (of: keyof Counts): number => members.reduce((total, each) => total + each[of], 0);
  const counts = { records: sum('records'), rows: sum('rows'), rejects: sum('rejects'), duplicates: sum('duplicates') };
  const [without] = await session.query<{ records: number }>(statement('without_value'), [releaseId, NO_DATA]);
  refuseRejects(located, counts.records, counts.rejects - (without?.records ?? 0));
  return { counts, held };
}

/** Deletes the workspaces of interrupted runs, and deletes unfinished releases from the ledger. @returns the names of the deleted schemas */
export async function recoverStaging(database: Database): Promise<string[]> {
  return database.session(async (session) => {
    const left = await leftStaging(session);
    for (const schema of left) await dropSchema(session, schema);
    await session.query(statement('forget_staging'));
    return left;
  });
}
