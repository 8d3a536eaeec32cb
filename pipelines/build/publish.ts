/** Step 6: one transaction that swaps a region's tables. Readers see the whole old region or the whole new one. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Session } from '../db/index.ts';
import { attach, copyComments, detach, digestOf, dropTable, proveBound, splitOf, type Split } from '../db/catalog.ts';
import { retireParcels } from '../db/register.ts';
import { MappaleError } from '../errors.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { schemaOf, tableOf, type Relation } from '../contract/sql-files.ts';
import { attribute, citationsOf } from './attribution.ts';
import type { Gated } from './gate.ts';
import { dropWorkspaces, type Joined } from './join.ts';
import { holds, releaseHold, setHold } from '../ledger/hold.ts';
import { productsDigest } from '../plan/products.ts';
import { publishedTables, type PublishedTable } from '../ledger/published.ts';
import { addFigures, fence } from '../ledger/ledger.ts';

/** How long a swap may make readers wait, and how often it tries. */
const LOCK_TIMEOUT_MS = 2000;
const TRIES = 15;

export interface Published {
  readonly publicationId: number;
  readonly unit: number;
  readonly tables: readonly Omit<PublishedTable, 'stands'>[];
}

/**
 * Publishes a unit that was checked and passed the quality gate.
 * @throws MappaleError `PUBLISH_BLOCKED` (exit 6) when readers held the tables through every try
 */
export async function publish(database: Database, joined: Joined, gated: Gated, sources: readonly RegisteredSource[], runId: number): Promise<Published> {
  const { unit, schema } = joined;
  const splits = new Map<Relation, Split>();
  const digests = new Map<Relation, { rows: number; digest: string }>();
  await database.session(async (session) => {
    for (const product of joined.built) {
      const table = tableOf(product.relation);
      const split = await splitOf(session, product.relation);
      splits.set(product.relation, split);
      await proveBound(session, schema, table, product.relation, split, unit);
      if (split === 'whole') await copyComments(session, { schema: schemaOf(product.relation), table }, { schema, table });
      digests.set(product.relation, joined.carrying?.results.get(product.relation) ?? (await digestOf(session, schema, table)));
    }
  });
  const citations = await citationsOf(database, joined, sources);
  const published = await swapping(database, async (session) => {
    await fence(session, runId);
    // Before the first lock that a reader could wait for.
    const before = await publishedTables(session, unit);
    if (joined.built.some(({ relation }) => relation === 'core.parcel')) {
      const leaving = before.get('core.parcel');
      await retireParcels(session, unit, { schema, table: 'parcel' }, leaving === undefined ? null : { schema: 'core', table: leaving.stands }, joined.carrying?.changed ?? null);
    }
    const publicationId = await openPublication(session, unit, runId, gated.accepted);
    const tables: Omit<PublishedTable, 'stands'>[] = [];
    await holdReaders(session);
    for (const product of [...joined.products].sort(byRelation)) {
      const standing = before.get(product.relation);
      if (product.stale === null && standing !== undefined) {
        tables.push(standing);
        continue;
      }
      if (standing !== undefined && joined.carrying?.results.get(product.relation)?.stands === true) {
        tables.push({ ...standing, fingerprint: product.fingerprint, inputs: product.inputs });
        continue;
      }
      const split = splits.get(product.relation)!;
      const partition = `${tableOf(product.relation)}_${unit}_${publicationId}`;
      if (standing !== undefined) await detach(session, product.relation, standing.partition, split);
      else if (split === 'whole') await dropTable(session, schemaOf(product.relation), tableOf(product.relation));
      await attach(session, { schema, table: tableOf(product.relation) }, product.relation, partition, split, unit);
      await addFigures(session, product.relation, partition, gated.figures.get(product.relation) ?? []);
      tables.push({ relation: product.relation, partition, fingerprint: product.fingerprint, inputs: product.inputs, rows: digests.get(product.relation)!.rows, digest: digests.get(product.relation)!.digest });
    }
    for (const table of tables) {
      await session.query(
        'insert into ledger.publication_table (publication_id, relation, partition, fingerprint, inputs, rows, digest) values ($1, $2, $3, $4, $5, $6, $7)',
        [publicationId, table.relation, table.partition, table.fingerprint, JSON.stringify(table.inputs), table.rows, table.digest],
      );
    }
    await session.query('insert into ledger.publication_file (publication_id, file_id) select $1, unnest($2::int4[])', [publicationId, joined.files]);
    await attribute(session, publicationId, citations);
    await noteDigest(session, publicationId);
    await session.query('delete from ledger.built where unit_code = $1', [unit]);
    return { publicationId, tables };
  });
  await database.session((session) => dropWorkspaces(session, unit));
  return { unit, ...published };
}

function byRelation(a: { relation: Relation }, b: { relation: Relation }): number {
  return a.relation < b.relation ? -1 : 1;
}

/** A transaction whose locks wait at most two seconds each; tried again while readers hold a table. */
async function swapping<T>(database: Database, work: (session: Session) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await database.session((session) => session.transaction(async () => {
        await session.query("select set_config('lock_timeout', $1, true)", [`${LOCK_TIMEOUT_MS}ms`]);
        // What was said to be published is published, also when the server goes down in the next moment.
        await session.query('set local synchronous_commit = on');
        return work(session);
      }));
    } catch (error) {
      const blocked = error instanceof MappaleError && (error.code === 'SQL_55P03' || error.code === 'SQL_40P01');
      if (!blocked) throw error;
      if (attempt === TRIES) {
        throw new MappaleError('readers held the published tables through every try', {
          code: 'PUBLISH_BLOCKED', kind: 'database', detail: `expected a lock within ${LOCK_TIMEOUT_MS} ms, tried ${TRIES} times`,
          hint: 'Look for long queries in pg_stat_activity, then run the same command again: what was built is kept.', cause: error,
        });
      }
      await sleep(100 * attempt);
    }
  }
}

/** Waits until no reader is in the middle of a record, and makes new ones wait: the counterpart of `api.hold_publication`. */
async function holdReaders(session: Session): Promise<void> {
  await session.query('lock table ledger.publication_lock in access exclusive mode');
}

/** What tells this publication from every other one, as caches of answers need it. */
async function noteDigest(session: Session, publicationId: number): Promise<void> {
  await session.query(
    `update ledger.publication set digest = (
       select md5(coalesce(string_agg(l.line, chr(10) order by l.line collate "C"), ''))
       from (
         select concat_ws(' ', t.relation, t.digest) as line from ledger.publication_table t where t.publication_id = $1
         union all
         select concat_ws(' ', a.section, a.source_id, a.source, a.holder, a.license, a.url, a.reference_period, a.attribution) from ledger.attribution a where a.publication_id = $1
       ) l)
     where publication_id = $1`, [publicationId],
  );
}

async function openPublication(session: Session, unit: number, runId: number, accepted: Gated['accepted']): Promise<number> {
  await session.query("update ledger.publication set state = 'past' where unit_code = $1 and state = 'previous'", [unit]);
  await session.query("update ledger.publication set state = 'previous' where unit_code = $1 and state = 'current'", [unit]);
  const [row] = await session.query<{ id: number }>(
    `insert into ledger.publication (unit_code, run_id, state, reason, accepted)
     values ($1, $2, 'current', $3, $4::jsonb || jsonb_build_object('at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))) returning publication_id as id`,
    [unit, runId, accepted?.why ?? null, accepted === null ? null : JSON.stringify({ who: accepted.who, figures: accepted.figures })],
  );
  return row!.id;
}

/**
 * Brings the previous publication of a unit back; a second call returns. A refresh does not publish again what was taken back, until what it is made
 * from is another. A region that was withdrawn comes back, too.
 * @throws MappaleError `NO_PREVIOUS` (exit 2)
 */
export async function rollback(database: Database, unit: number, runId: number): Promise<{ from: number | null; to: number; tables: readonly Relation[] }> {
  return swapping(database, async (session) => {
    await fence(session, runId);
    const found = await session.query<{ id: number; state: string }>("select publication_id as id, state from ledger.publication where unit_code = $1 and state in ('current', 'previous')", [unit]);
    const from = found.find(({ state }) => state === 'current');
    const to = found.find(({ state }) => state === 'previous');
    if (to === undefined) {
      throw new MappaleError('there is no previous publication to go back to', { code: 'NO_PREVIOUS', kind: 'usage', hint: 'See what is published: mappale status' });
    }
    const current = await publishedTables(session, unit);
    const previous = await publishedTables(session, unit, 'previous');
    const parcels = { now: current.get('core.parcel')?.partition, then: previous.get('core.parcel')?.partition };
    if (parcels.then !== undefined && parcels.then !== parcels.now) {
      await retireParcels(session, unit, { schema: 'previous', table: parcels.then }, parcels.now === undefined ? null : { schema: 'core', table: parcels.now }, null);
    }
    const changed: Relation[] = [];
    await holdReaders(session);
    for (const relation of [...new Set([...current.keys(), ...previous.keys()])].sort()) {
      const now = current.get(relation);
      const then = previous.get(relation);
      if (now?.partition === then?.partition) continue;
      changed.push(relation);
      const split = await splitOf(session, relation);
      if (now !== undefined) await detach(session, relation, now.partition, split);
      if (then !== undefined) await attach(session, { schema: 'previous', table: then.partition }, relation, then.partition, split, unit);
    }
    if (from !== undefined) await session.query("update ledger.publication set state = 'past' where publication_id = $1", [from.id]);
    await session.query("update ledger.publication set state = 'current' where publication_id = $1", [to.id]);
    if (from !== undefined) await session.query("update ledger.publication set state = 'previous' where publication_id = $1", [from.id]);
    if (from === undefined) await releaseHold(session, unit, 'withdrawn');
    else if ((await holds(session)).get(unit)?.kind !== 'pinned') {
      await setHold(session, { unit, kind: 'rolled_back', fingerprint: productsDigest([...current.values()]), reason: null }, await hostOf(session, runId));
    }
    return { from: from?.id ?? null, to: to.id, tables: changed };
  });
}

/**
 * Takes a region out of publication: its tables stay as the previous publication, and nothing follows them until a person says so.
 * @throws MappaleError `NOT_PUBLISHED` (exit 2)
 */
export async function withdraw(database: Database, unit: number, runId: number, reason: string | null): Promise<{ publication: number; tables: readonly Relation[] }> {
  return swapping(database, async (session) => {
    await fence(session, runId);
    const current = await publishedTables(session, unit);
    const [publication] = await session.query<{ id: number }>("select publication_id as id from ledger.publication where unit_code = $1 and state = 'current'", [unit]);
    if (publication === undefined) throw new MappaleError('the region is not published', { code: 'NOT_PUBLISHED', kind: 'usage', hint: 'See what is published: mappale status' });
    await holdReaders(session);
    for (const [relation, { partition }] of [...current].sort(([a], [b]) => (a < b ? -1 : 1))) await detach(session, relation, partition, await splitOf(session, relation));
    await session.query("update ledger.publication set state = 'past' where unit_code = $1 and state = 'previous'", [unit]);
    await session.query("update ledger.publication set state = 'previous' where publication_id = $1", [publication.id]);
    await setHold(session, { unit, kind: 'withdrawn', fingerprint: null, reason }, await hostOf(session, runId));
    return { publication: publication.id, tables: [...current.keys()].sort() };
  });
}

async function hostOf(session: Session, runId: number): Promise<string> {
  const [run] = await session.query<{ host: string }>('select host from ledger.run where run_id = $1', [runId]);
  return run?.host ?? 'unknown';
}
