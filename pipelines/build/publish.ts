/**
 * Step 6 of a refresh: one transaction swaps the tables of a region, or replaces the changed rows of the tables. Readers see either the old region or the new
 * region, never a mixture.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { one, type Database, type Row, type Session } from '../db/index.ts';
import { digestOf, type Content } from '../db/comparing.ts';
import { copyComments, dropTable } from '../db/ddl.ts';
import type { Patch } from '../db/changed-rows.ts';
import { attach, detach, formerRows, patchRows, proveBound, splitOf, type Split } from '../db/partitions.ts';
import { modifySequentially, isDistributed } from '../db/distributed.ts';
import { dropPastOfItaly, noteSwap, swapHappens, type Exchange, type TableState } from '../db/history.ts';
import { followRegion } from '../db/region-schemas.ts';
import { retireParcels } from '../db/register.ts';
import { savepoint, setLocal } from '../db/transactions.ts';
import { byAdministrator, type ServerPlace } from '../db/server-address.ts';
import { statementsOf, type Place } from '../db/statements.ts';
import { MappaleError } from '../errors.ts';
import { inParallel } from '../parallel.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { attribute, citationsOf } from './attribution.ts';
import { countChanges } from './count-changes.ts';
import type { Gated } from './gate.ts';
import { dropBuild, type Joined } from './join.ts';
import { mustNotBeHeld, releaseHold, setHold } from '../ledger/hold.ts';
import { productsDigest } from '../plan/products.ts';
import { notPublished, publishedTables, type PublishedTable } from '../ledger/published.ts';
import { addFigures } from '../ledger/ledger.ts';
import { fence } from '../ledger/runs.ts';

const statement = statementsOf('publication');

interface Patience {
  /** Longest wait for each lock, in milliseconds. New readers are blocked during this wait. */
  readonly lockTimeoutMs: number;
  /** Largest number of attempts to swap. */
  readonly tries: number;
}

const PATIENCE: Patience = { lockTimeoutMs: 2000, tries: 15 };

interface RollbackOptions extends Partial<Patience> {
  /** False if no user requested the rollback of this region. The rollback then respects the holds that users set. Default: true. */
  readonly requested?: boolean;
}

export interface Published {
  readonly publicationId: number;
  readonly tables: readonly Omit<PublishedTable, 'currentTable'>[];
}

interface PublishOptions {
  readonly sources: readonly RegisteredSource[];
  readonly runId: number;
  /** Largest number of tables whose digests are computed at the same time, if the engine allows it. */
  readonly parallel: number;
}

/** A built table that passed the checks and can be attached. */
interface ProvenTable extends Content {
  readonly place: Place;
  readonly split: Split;
}

/** A published table whose changed rows are replaced in place. */
interface PatchedTable extends Content {
  readonly patch: Patch;
  /** Partition name of the published table that the patch applies to. */
  readonly base: string;
}

type MadeTable = ProvenTable | PatchedTable;
type MadeEntry = readonly [Relation, MadeTable];

/** Checks that completely rebuilt tables can be attached as partitions, and computes their digests. Patched tables are returned unchecked. */
async function proveTables(
  database: Database, { region, schema, built, incremental, nodes }: Joined, parallel: number,
): Promise<ReadonlyMap<Relation, MadeTable>> {
  return new Map(await inParallel(Math.min(parallel, database.parallel), built, ({ relation }) => database.session(async (session): Promise<MadeEntry> => {
    const result = incremental?.results.get(relation);
    if (result?.patch) return [relation, { ...result, patch: result.patch }];
    const split = await splitOf(session, relation);
    const table = { schema, table: tableOf(relation) };
    await proveBound(session, table, relation, { split, key: region });
    if (split === 'whole') await copyComments(session, { schema: schemaOf(relation), table: table.table }, table);
    const place = nodes !== null && split === 'fid' ? await nodes.proven(session, relation, region) : table;
    return [relation, { place, split, ...(await digestOf(session, place.schema, place.table)) }];
  })));
}

/** Records the tables and files of a publication in the ledger, and deletes the ledger's records of the build. */
async function recordPublication(
  session: Session, { region, files }: Joined, publicationId: number, tables: readonly Omit<PublishedTable, 'currentTable'>[],
): Promise<void> {
  await session.query(statement('add_tables'), [publicationId, JSON.stringify(tables)]);
  await session.query(statement('add_files'), [publicationId, files]);
  await session.query(statement('note_content'), [publicationId]);
  await session.query(statement('forget_built'), [region]);
}

/**
 * Publishes a region that passed its checks and the quality gate, and releases the hold of an earlier rollback.
 * @throws MappaleError `PUBLISH_BLOCKED` (exit 6) if readers locked the tables during every attempt
 * @throws HeldBack if the region was pinned or withdrawn during the run, or is rolled back while the transaction begins
 */
export async function publish(database: Database, joined: Joined, gated: Gated, { sources, runId, parallel }: PublishOptions): Promise<Published> {
  const { region } = joined;
  const made = await proveTables(database, joined, parallel);
  const citations = await citationsOf(database, joined, sources);
  const published = await swapping(database, async (session) => {
    await fence(session, runId);
    const wasRolledBack = await mustNotBeHeld(session, region);
    const before = await publishedTables(session, region);
    // For a withdrawn region, uses the tables of the last publication.
    const lasting = before.size > 0 ? statesOf(before, 'current') : statesOf(await publishedTables(session, region, 'previous'), 'previous');
    await session.query(statement('move'), [region, 'previous', 'past']);
    await session.query(statement('move'), [region, 'current', 'previous']);
    const { accepted } = gated;
    const { id: publicationId } = await one<{ id: number }>(session, statement('open'), [
      region, runId, accepted?.why ?? null, accepted === null ? null : JSON.stringify({ who: accepted.who, figures: accepted.figures }),
    ]);
    await attribute(session, publicationId, citations);
    const exchanges = [...made].map(([relation, content]) => exchangeOf(relation, lasting.get(relation) ?? null, content));
    const swap = await noteSwap(session, region, publicationId, exchanges);
    await applyPatches(session, made, before);
    return { before, lasting, publicationId, swap, wasRolledBack };
  }, async (session, { before, lasting, publicationId, swap, wasRolledBack }) => {
    const parcels: Parcels = { made: made.get('core.parcel'), before: before.get('core.parcel'), lasting: lasting.get('core.parcel') };
    await retire(session, { swap, region }, parcels);
    await holdReaders(session, region);
    await swapHappens(session, swap);
    const tables = await exchangeTables(session, joined, gated, { publicationId, before, made });
    await recordPublication(session, joined, publicationId, tables);
    // If the hold were released after this transaction, it would remain after a kill, and the hold of a rollback in the meantime would be released.
    if (wasRolledBack) await releaseHold(session, region, 'rolled_back');
    const attached = new Set([...made].flatMap(([relation, content]) => ('place' in content ? [relation] : [])));
    if (attached.size > 0) await followRegion(session, region, attached);
    return { publicationId, tables };
  });
  await afterSwap(async () => {
    await dropBuild(database, region);
    await countChanges(database, region);
  });
  return published;
}

/** Runs work that follows a change of what is published. If the work fails, the error states that the change itself is complete. */
async function afterSwap(work: () => Promise<void>): Promise<void> {
  await work().catch((error: unknown) => {
    if (!(error instanceof MappaleError)) throw error;
    throw error.knowing({ hint: 'The publication, rollback or withdrawal is complete. Only the numbers of changed parcels are missing. The next refresh adds them.' });
  });
}

/**
 * Replaces the changed rows of published tables.
 * @throws Error if the patch was built for a different published table, which is a bug in the locking
 */
async function applyPatches(session: Session, made: ReadonlyMap<Relation, MadeTable>, before: ReadonlyMap<Relation, PublishedTable>): Promise<void> {
  for (const [relation, content] of made) {
    if (!('patch' in content)) continue;
    const old = before.get(relation);
    if (old?.partition !== content.base) throw new Error(`${relation} was published again during the build: expected ${content.base}, found ${old?.partition ?? 'none'}`);
    await patchRows(session, { schema: schemaOf(relation), table: old.currentTable }, old.partition, content.patch);
  }
}

/** Attaches the completely rebuilt tables as partitions, and stores the statistics of rebuilt and patched tables. @returns all tables of the publication */
async function exchangeTables(
  session: Session, { region, products }: Joined, { figures }: Gated,
  { publicationId, before, made }: {
    readonly publicationId: number; readonly before: ReadonlyMap<Relation, PublishedTable>; readonly made: ReadonlyMap<Relation, MadeTable>;
  },
): Promise<Published['tables']> {
  const tables: Published['tables'][number][] = [];
  for (const { relation, fingerprint, inputs } of [...products].sort((a, b) => (a.relation < b.relation ? -1 : 1))) {
    const old = before.get(relation);
    const content = made.get(relation);
    if (content === undefined) {
      // A published table stays attached if it was not rebuilt, or if the rebuilt rows are equal.
      if (old !== undefined) tables.push({ ...old, fingerprint, inputs });
      continue;
    }
    const { rows, digest } = content;
    const partition = `${tableOf(relation)}_${region}_${publicationId}`;
    if ('place' in content) {
      const { place, split } = content;
      if (old !== undefined) await detach(session, relation, old.heldIn, split);
      else if (split === 'whole') await dropTable(session, schemaOf(relation), tableOf(relation));
      await attach(session, place, relation, partition, { split, key: region });
    }
    await addFigures(session, relation, partition, figures.get(relation) ?? []);
    tables.push({ relation, partition, heldIn: 'place' in content ? partition : old?.heldIn ?? partition, fingerprint, inputs, rows, digest });
  }
  return tables;
}

/** Returns the rows that leave and enter a table: all rows of a rebuilt table, or the replaced rows of a patched table. */
function exchangeOf(relation: Relation, leaving: TableState | null, content: MadeTable): Exchange {
  const { rows, digest } = content;
  if ('place' in content) return { relation, leaving, coming: { place: content.place, rows, digest } };
  return { relation, leaving: leaving === null ? null : { ...leaving, place: content.patch.gone }, coming: { place: content.patch.came, rows, digest } };
}

/** The parcel tables before and after a publication. */
interface Parcels {
  /** Table or patch with the new parcels; undefined if the parcels do not change. */
  readonly made: MadeTable | undefined;
  /** Currently published parcels; undefined for a withdrawn or new region. */
  readonly before: PublishedTable | undefined;
  /** Parcels of the last publication, even if the region is withdrawn. */
  readonly lasting: TableState | undefined;
}

/** Retires the parcels that disappear with a publication. */
async function retire(session: Session, of: { readonly swap: number; readonly region: number }, { made, before, lasting }: Parcels): Promise<void> {
  if (made === undefined) return;
  if ('place' in made) await retireParcels(session, of, made.place, lasting?.place ?? null, 'whole');
  else if (before !== undefined) await retireParcels(session, of, made.patch.came, formerRows(before.partition).rows, 'patched');
}

/**
 * Runs a transaction that blocks other sessions as briefly as possible. Slow work is done once, before the swap. Only the swap is tried again.
 * @param prepare does the slow work; takes no lock that blocks readers or the swap of another region
 * @param swap takes the locks, with a time limit for each lock
 * @throws MappaleError `PUBLISH_BLOCKED` (exit 6)
 */
async function swapping<P, T>(
  database: Database, prepare: (session: Session) => Promise<P>, swap: (session: Session, prepared: P) => Promise<T>,
  { lockTimeoutMs, tries }: Patience = PATIENCE,
): Promise<T> {
  return database.session((session) => session.transaction(async () => {
    // After a publication is reported, a crash of the database server must not undo the publication.
    await setLocal(session, 'synchronous_commit', 'on');
    if (await isDistributed(session)) await modifySequentially(session);
    const prepared = await prepare(session);
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await savepoint(session, 'swap', async () => {
          await setLocal(session, 'lock_timeout', `${lockTimeoutMs}ms`);
          return swap(session, prepared);
        });
      } catch (error) {
        const blocked = error instanceof MappaleError && (error.code === 'SQL_55P03' || error.code === 'SQL_40P01');
        if (!blocked) throw error;
        if (attempt === tries) throw await blockedBy(session, `expected a lock within ${lockTimeoutMs} ms, tried ${tries} times`, error);
      }
      await sleep(100 * attempt);
    }
  }));
}

interface Holder extends Record<string, unknown> {
  readonly pid: number;
  readonly program: string;
  readonly user: string;
  /** Address of the client; null if the client uses a local socket, or if the current role may not see the address. */
  readonly address: string | null;
  /** Start of the session's transaction in UTC; null if the current role may not see the start. */
  readonly since: string | null;
  /** Statement that ends the session. */
  readonly ending: string;
}

/** Returns an error that lists the sessions that hold locks on published tables. The fix ends the session that has been reading longest. */
async function blockedBy(session: Session, expected: string, cause: unknown): Promise<MappaleError> {
  const holders = await session.query<Holder>(statement('holders'));
  const found = holders.map(({ pid, program, user, address, since }) => (
    `${program === '' ? 'a program without a name' : program} (process ${pid}, user ${user}${address === null ? '' : `, from ${address}`}${since === null ? '' : `, since ${since}`})`
  ));
  const [longest] = holders;
  const fix = longest === undefined ? undefined : byAdministrator(await one<Row & ServerPlace>(session, statementsOf('server')('place')), longest.ending);
  return new MappaleError('readers locked the published tables during every attempt', {
    code: 'PUBLISH_BLOCKED', kind: 'database', detail: `${expected}; found ${found.length === 0 ? 'no reader' : found.join('; ')}`,
    hint: `Nothing was published. The build is kept. Run the same command again after these readers have finished${fix === undefined ? '.' : ', or end the session that has been reading longest.'}`, fix, cause,
  });
}

/** Returns the place, row count and digest of each table of a publication. Tables of the previous publication are in the schema `previous`. */
function statesOf(tables: ReadonlyMap<Relation, PublishedTable>, state: 'current' | 'previous'): Map<Relation, TableState> {
  return new Map([...tables].map(([relation, { heldIn, currentTable, rows, digest }]) => (
    [relation, { place: state === 'current' ? { schema: schemaOf(relation), table: currentTable } : { schema: 'previous', table: heldIn }, rows, digest }]
  )));
}

/**
 * Waits until no session reads a record, and blocks sessions that call `api.hold_publication`. For Italy, also drops the views of past rows, which
 * `followRegion` creates again.
 */
async function holdReaders(session: Session, region: number): Promise<void> {
  await session.query(statement('hold_readers'));
  if (region === 0) await dropPastOfItaly(session);
}

/**
 * Restores the previous publication of a region, even if the region is withdrawn. A second call undoes the first, unless the region was withdrawn. A refresh
 * publishes the replaced state again only after the inputs of that state change. A pinned region remains pinned.
 * @throws MappaleError `NO_PREVIOUS` (exit 2), `PUBLISH_BLOCKED` (exit 6)
 * @throws HeldBack if the region is pinned or withdrawn, and the rollback is not `requested`
 */
export async function rollback(
  database: Database, region: number, runId: number, { requested = true, ...patience }: RollbackOptions = {},
): Promise<{ from: number | null; to: number; tables: readonly Relation[] }> {
  const done = await swapping(database, async (session) => {
    await fence(session, runId);
    if (!requested) await mustNotBeHeld(session, region);
    const { current: from, previous: to } = await idsOf(session, region);
    if (to === null) {
      throw new MappaleError('there is no previous publication to restore', { code: 'NO_PREVIOUS', kind: 'usage', hint: 'List the publications.', fix: 'npx mappale status' });
    }
    const current = await publishedTables(session, region);
    const previous = await publishedTables(session, region, 'previous');
    const [leaving, coming] = [statesOf(current, 'current'), statesOf(previous, 'previous')];
    const patched = await unpatch(session, current, previous);
    const swap = await noteSwap(session, region, to, changedTables(current, previous).map((relation) => {
      const [gone, came] = [leaving.get(relation) ?? null, coming.get(relation) ?? null];
      const rows = patched.get(relation);
      if (rows === undefined || gone === null || came === null) return { relation, leaving: gone, coming: came };
      return { relation, leaving: { ...gone, place: rows.gone }, coming: { ...came, place: rows.came } };
    }));
    return { from, to, current, previous, swap, patched };
  }, async (session, { from, to, current, previous, swap, patched }) => {
    const [now, then] = [current.get('core.parcel'), previous.get('core.parcel')];
    const parcels = patched.get('core.parcel');
    if (parcels !== undefined) await retireParcels(session, { swap, region }, parcels.came, parcels.gone, 'patched');
    else if (then !== undefined && then.partition !== now?.partition) {
      await retireParcels(session, { swap, region }, { schema: 'previous', table: then.heldIn }, now === undefined ? null : { schema: 'core', table: now.heldIn }, 'whole');
    }
    const tables = await exchange(session, region, current, previous);
    for (const { came, fids } of patched.values()) for (const { schema, table } of [came, fids]) await dropTable(session, schema, table);
    await swapHappens(session, swap);
    // A region has at most one `current` and one `previous` publication.
    for (const [id, state] of [[from, 'past'], [to, 'current'], [from, 'previous']] as const) {
      await session.query(statement('set_state'), [id, state]);
    }
    await followRegion(session, region);
    if (from === null) await releaseHold(session, region, 'withdrawn');
    else await setHold(session, { region, kind: 'rolled_back', fingerprint: productsDigest([...current.values()]), reason: null }, await hostOf(session, runId));
    return { from, to, tables };
  }, { ...PATIENCE, ...patience });
  await afterSwap(() => countChanges(database, region));
  return done;
}

/**
 * Restores the former rows of patched tables, and keeps the replaced rows. Call inside the transaction that restores the previous publication.
 * @returns the replaced rows and the restored rows of each table
 */
async function unpatch(
  session: Session, current: ReadonlyMap<Relation, PublishedTable>, previous: ReadonlyMap<Relation, PublishedTable>,
): Promise<ReadonlyMap<Relation, Omit<Patch, 'columns'>>> {
  const patched = new Map<Relation, Omit<Patch, 'columns'>>();
  for (const relation of changedTables(current, previous)) {
    const [now, then] = [current.get(relation), previous.get(relation)];
    if (now === undefined || then === undefined || now.heldIn !== then.heldIn) continue;
    const { rows: came, fids } = formerRows(then.partition);
    await patchRows(session, { schema: schemaOf(relation), table: now.currentTable }, now.partition, { fids, came });
    patched.set(relation, { fids, gone: formerRows(now.partition).rows, came });
  }
  return patched;
}

/**
 * Withdraws a region from publication. The region's tables become the previous publication. A refresh publishes the region again only after `unpin` or a
 * rollback.
 * @throws MappaleError `NOT_PUBLISHED` (exit 2), `PUBLISH_BLOCKED` (exit 6)
 */
export async function withdraw(
  database: Database, region: number, runId: number, reason: string | null,
): Promise<{ publication: number; tables: readonly Relation[] }> {
  const done = await swapping(database, async (session) => {
    await fence(session, runId);
    const { current: publication } = await idsOf(session, region);
    if (publication === null) throw await notPublished(session, region);
    // No data of a withdrawn region is served, not even for past days. Rows of a withdrawn region become history only when other rows replace them.
    return { publication, current: await publishedTables(session, region), swap: await noteSwap(session, region, null, []) };
  }, async (session, { publication, current, swap }) => {
    const tables = await exchange(session, region, current, new Map());
    await swapHappens(session, swap);
    await session.query(statement('move'), [region, 'previous', 'past']);
    await session.query(statement('move'), [region, 'current', 'previous']);
    await followRegion(session, region);
    await setHold(session, { region, kind: 'withdrawn', fingerprint: null, reason }, await hostOf(session, runId));
    return { publication, tables };
  });
  await afterSwap(() => countChanges(database, region));
  return done;
}

async function idsOf(session: Session, region: number): Promise<Record<'current' | 'previous', number | null>> {
  const found = await session.query<{ id: number; state: string }>(statement('states'), [region]);
  const idOf = (wanted: string): number | null => found.find(({ state }) => state === wanted)?.id ?? null;
  return { current: idOf('current'), previous: idOf('previous') };
}

/**
 * Replaces the current tables of a region with the tables of a different publication. Patched tables stay attached.
 * @returns the tables whose content changes
 */
async function exchange(
  session: Session, region: number, current: ReadonlyMap<Relation, PublishedTable>, other: ReadonlyMap<Relation, PublishedTable>,
): Promise<Relation[]> {
  await holdReaders(session, region);
  const changed = changedTables(current, other);
  for (const relation of changed) {
    const [now, then] = [current.get(relation), other.get(relation)];
    if (now !== undefined && now.heldIn === then?.heldIn) continue;
    const split = await splitOf(session, relation);
    if (now !== undefined) await detach(session, relation, now.heldIn, split);
    if (then !== undefined) await attach(session, { schema: 'previous', table: then.heldIn }, relation, then.heldIn, { split, key: region });
  }
  return changed;
}

function changedTables(current: ReadonlyMap<Relation, PublishedTable>, other: ReadonlyMap<Relation, PublishedTable>): Relation[] {
  const relations = [...new Set([...current.keys(), ...other.keys()])].sort();
  return relations.filter((relation) => current.get(relation)?.partition !== other.get(relation)?.partition);
}

async function hostOf(session: Session, runId: number): Promise<string> {
  return (await one<{ host: string }>(session, statementsOf('ledger')('host_of_run'), [runId])).host;
}
