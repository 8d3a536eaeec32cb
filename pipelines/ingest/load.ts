/** Steps 3 and 4a: staging → layers of one release, accounted for, checked, and attached as partitions. */
import type { Database, Session } from '../db/index.ts';
import {
  analyze, analyzeRoughly, attach, copyMembers, countByMember, countRows, createSchema, dropSchema, inWorkspace, proveBound, provideRelease, recordWholeFiles, renameIndexes, repeatingMembers, tablesIn,
} from '../db/catalog.ts';
import { inputError, type MappaleError } from '../errors.ts';
import { NO_DATA } from '../readers/no-data.ts';
import type { RegisteredSource } from '../contract/registry.ts';
import { readChecks, tableOf } from '../contract/sql-files.ts';
import type { Log } from '../log.ts';
import { refuseOffences, runChecks } from '../db/checks.ts';
import { leftStaging, stagingSchema } from '../db/workspace.ts';
import { lost, refuseRejects, type MemberCount, type Staged } from './stage.ts';
import { fence } from '../ledger/ledger.ts';

/** State 3: the release's layers are attached and will never change. */
export interface Loaded {
  readonly state: 'loaded';
  readonly releaseId: number;
  readonly sourceId: string;
  readonly records: number;
  readonly rows: number;
  readonly rejects: number;
  readonly duplicates: number;
}

/**
 * Runs the source's load.sql in the release's workspace, accounts for every staged row, runs its checks and attaches the layers.
 * @throws MappaleError `ACCOUNTING`, `TOO_MANY_REJECTS` (exit 4), `CHECKS_FAILED` (exit 5)
 */
export async function load(database: Database, staged: Staged, runId: number, log: Log): Promise<Loaded> {
  const { source } = staged.located;
  const { schema, releaseId } = staged;
  const layers = source.layer.writes;
  const totals = await inWorkspace(database, schema, async (session) => {
    await provideInputs(session, staged);
    for (const table of Object.keys(source.tables)) await analyze(session, schema, table);
    await session.script(source.load.text, source.load.file);
    await takeOver(session, staged);
    await provideFiles(session, releaseId, true);
    await refuseRepetition(session, staged);
    const made = new Set(await tablesIn(session, schema));
    for (const layer of layers) {
      if (!made.has(tableOf(layer))) throw new Error(`${source.load.file} did not make ${tableOf(layer)}`);
      // Where members were taken over, what is made next reads the others of them, and the whole for its checks.
      await (staged.reused.length > 0 ? analyzeRoughly : analyze)(session, schema, tableOf(layer));
    }
    const { counts, held } = await account(session, staged, made);
    const rejects = counts.reduce((sum, count) => sum + count.rejects, 0);
    const records = counts.reduce((sum, count) => sum + count.records, 0);
    // Of members that are taken over, rejects are those of the member that was read.
    const [without] = await session.query<{ records: number }>(
      `select count(*)::int4 as records from ledger.reject
       where code = $2 and member_id in (select coalesce(taken_from, member_id) from ledger.member where release_id = $1)`, [releaseId, NO_DATA],
    );
    refuseRejects(staged.located, records, rejects - (without?.records ?? 0));
    refuseOffences(source.id, await runChecks(session, readChecks(source.checks)), log);
    if (staged.located.complete && counts.every(({ rows }) => rows === 0)) throw withoutRecords(staged);
    await recordPlaces(session, schema, source, releaseId);
    return { held, records, rejects, rows: counts.reduce((sum, count) => sum + count.rows, 0), duplicates: counts.reduce((sum, count) => sum + count.duplicates, 0) };
  });
  await database.session(async (session) => {
    for (const layer of layers) {
      await proveBound(session, schema, tableOf(layer), layer, 'release', releaseId);
      await renameIndexes(session, schema, tableOf(layer), `${tableOf(layer)}_${releaseId}`);
    }
    await session.transaction(async () => {
      await fence(session, runId);
      for (const layer of [...layers].sort()) await attach(session, { schema, table: tableOf(layer) }, layer, `${tableOf(layer)}_${releaseId}`, 'release', releaseId);
      await session.query(
        "update ledger.release set state = 'loaded', loaded_at = now(), records = $2, rows = $3, rejects = $4, duplicates = $5, layers = $6 where release_id = $1",
        [releaseId, totals.records, totals.rows, totals.rejects, totals.duplicates, JSON.stringify(totals.held)],
      );
      await session.query('update ledger.file set present = true, arrived_run = $2 where release_id = $1', [releaseId, runId]);
    });
    await dropSchema(session, schema);
  });
  const { records, rows, rejects, duplicates } = totals;
  return { state: 'loaded', releaseId, sourceId: source.id, records, rows, rejects, duplicates };
}

/** What load.sql sees beside the staged rows: nothing but the release itself, so that what a file becomes hangs on its bytes alone. */
async function provideInputs(session: Session, { releaseId }: Staged): Promise<void> {
  await session.query('create table release as select release_id, source_id as source, vintage, region_code from ledger.release where release_id = $1', [releaseId]);
  // Those that are read: rows of members that are taken over come from where they were made.
  await provideFiles(session, releaseId, false);
}

/** The table `member`: the members of a release and their files. @param all also those that were taken over */
async function provideFiles(session: Session, releaseId: number, all: boolean): Promise<void> {
  await session.query('drop table if exists member');
  await session.query(
    `create table member as
     select m.member_id, m.file_id, m.path, f.name as file_name, m.region_code from ledger.member m join ledger.file f using (file_id)
     where m.release_id = $1 and ($2 or m.taken_from is null)`, [releaseId, all],
  );
}

/** Rows of members that an earlier release already holds, copied inside the database, with what was refused of them. */
async function takeOver(session: Session, staged: Staged): Promise<void> {
  if (staged.reused.length === 0) return;
  for (const layer of staged.located.source.layer.writes) await copyMembers(session, staged.schema, layer, staged.releaseId, staged.reused);
  const pairs = [staged.reused.map(({ memberId }) => memberId), staged.reused.map(({ fromMemberId }) => fromMemberId)];
  await session.query(
    `insert into ledger.reject (release_id, member_id, step, position, code, message, raw)
     select $1, p.member_id, r.step, r.position, r.code, r.message, r.raw
     from unnest($2::int4[], $3::int4[]) as p (member_id, from_member_id) join ledger.reject r on r.member_id = p.from_member_id`, [staged.releaseId, ...pairs],
  );
  await session.query(
    `insert into ledger.duplicate (release_id, member_id, code, records)
     select $1, p.member_id, d.code, d.records
     from unnest($2::int4[], $3::int4[]) as p (member_id, from_member_id) join ledger.duplicate d on d.member_id = p.from_member_id`, [staged.releaseId, ...pairs],
  );
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
async function refuseRepetition(session: Session, staged: Staged): Promise<void> {
  if (staged.reused.length === 0) return;
  const reused = new Map(staged.reused.map(({ memberId, path }) => [memberId, path]));
  const paths = new Set<string>();
  for (const [layer, columns] of Object.entries(staged.located.source.unique ?? {})) {
    for (const memberId of await repeatingMembers(session, staged.schema, layer, columns)) {
      const path = reused.get(memberId);
      if (path !== undefined) paths.add(path);
    }
  }
  if (paths.size > 0) throw new Repetition(paths);
}

function withoutRecords({ located }: Staged): MappaleError {
  return inputError('a file that is packaged as complete holds no record that can be used', {
    code: 'NO_RECORDS', at: located.files.map(({ name }) => name).join(', '), detail: 'expected records, found none', hint: 'Download it again and compare its size with the publisher\'s.',
  });
}

/** Writes into the ledger what each file of a release speaks of, layer by layer. In the workspace that holds its layers. */
async function recordPlaces(session: Session, schema: string, source: RegisteredSource, releaseId: number): Promise<void> {
  if (source.placesOf !== null) {
    await session.script(source.placesOf.text, source.placesOf.file);
    await session.query(
      `insert into ledger.file_place (file_id, layer, series, region_code, likely_region_code, dated, named, places, names)
       select file_id, layer, series, region_code, likely_region_code, dated, named, array_agg(place order by place collate "C"),
         case when count(name) > 0 then array_agg(name order by place collate "C") end
       from place group by file_id, layer, series, region_code, likely_region_code, dated, named`,
    );
  }
  for (const layer of source.layer.writes.map(tableOf).filter((name) => source.places?.[name] === undefined)) await recordWholeFiles(session, schema, layer, releaseId);
}

/** Releases that were loaded before places were noted. Their files may be gone: what they speak of is asked of their layers. */
export async function notePlacesOfOldReleases(database: Database, sources: readonly RegisteredSource[]): Promise<void> {
  const rows = await database.query<{ id: number; source: string }>(
    `select release_id as id, source_id as source from ledger.release r
     where state = 'loaded' and rows > 0 and not exists (select from ledger.file f join ledger.file_place p using (file_id) where f.release_id = r.release_id) order by 1`,
  );
  for (const { id, source: sourceId } of rows) {
    const source = sources.find((each) => each.id === sourceId);
    if (source === undefined) continue;
    const schema = stagingSchema(id);
    await dropSchema(database, schema);
    await createSchema(database, schema);
    await inWorkspace(database, schema, (session) => session.transaction(async () => {
      await provideFiles(session, id, true);
      for (const layer of source.layer.writes) await provideRelease(session, schema, layer, id);
      await recordPlaces(session, schema, source, id);
    }));
    await dropSchema(database, schema);
  }
}

/**
 * Writes what load.sql refused into the ledger and holds, member by member, records = rows + rejects + duplicates.
 * @returns what each member came to, and how many rows each layer holds
 */
async function account(session: Session, staged: Staged, made: ReadonlySet<string>): Promise<{ counts: MemberCount[]; held: Record<string, number> }> {
  const { schema, releaseId, located } = staged;
  const reused = new Set(staged.reused.map(({ memberId }) => memberId));
  const rows = new Map<number, number>();
  const held: Record<string, number> = {};
  const counted = new Set(located.source.manifest.layers);
  for (const table of located.source.layer.writes.map(tableOf)) {
    if (!counted.has(table)) {
      held[table] = await countRows(session, schema, table);
      continue;
    }
    held[table] = 0;
    for (const found of await countByMember(session, schema, table)) {
      held[table] += found.n;
      if (found.n !== found.distinct_n) throw new Error(`${located.source.load.file}: ${table} has a record more than once (member ${found.member_id})`);
      rows.set(found.member_id, (rows.get(found.member_id) ?? 0) + found.n);
    }
  }
  const rejects = new Map<number, number>();
  const duplicates = new Map<number, number>();
  if (made.has('reject')) {
    await session.query(
      `insert into ledger.reject (release_id, member_id, step, position, code, message, raw)
       select $1, member_id, 'load', position, code, message, convert_to(raw, 'UTF8') from reject`, [releaseId],
    );
    for (const found of await session.query<{ member_id: number; n: number }>('select member_id, count(*) as n from reject group by member_id')) rejects.set(found.member_id, found.n);
  }
  if (made.has('duplicate')) {
    await session.query(
      `insert into ledger.duplicate (release_id, member_id, code, records) select $1, member_id, code, count(*) from duplicate group by member_id, code
       on conflict (member_id, code) do update set records = ledger.duplicate.records + excluded.records`, [releaseId],
    );
    for (const found of await session.query<{ member_id: number; n: number }>('select member_id, count(*) as n from duplicate group by member_id')) duplicates.set(found.member_id, found.n);
  }
  const entangled = new Set(made.has('entangled') ? (await session.query<{ member_id: number }>('select member_id from entangled')).map(({ member_id: id }) => id) : []);
  const counts = staged.members.map((member): MemberCount => ({
    ...member,
    rows: rows.get(member.memberId) ?? 0,
    rejects: member.rejects + (reused.has(member.memberId) ? 0 : rejects.get(member.memberId) ?? 0),
    duplicates: member.duplicates + (reused.has(member.memberId) ? 0 : duplicates.get(member.memberId) ?? 0),
  }));
  for (const count of counts) if (count.records !== count.rows + count.rejects + count.duplicates) throw lost(count, 'loading');
  await session.query(
    `update ledger.member m set rows = x.rows, rejects = x.rejects, duplicates = x.duplicates, alone = x.alone
     from unnest($1::int4[], $2::int8[], $3::int8[], $4::int8[], $5::bool[]) as x (member_id, rows, rejects, duplicates, alone) where m.member_id = x.member_id`,
    [
      counts.map(({ memberId }) => memberId), counts.map((c) => c.rows), counts.map((c) => c.rejects), counts.map((c) => c.duplicates),
      counts.map(({ memberId }) => !rejects.has(memberId) && !duplicates.has(memberId) && !entangled.has(memberId)),
    ],
  );
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
