/** Tests that queries for a past day return the original answer after any later change, and that unchanged rows are stored once. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rollback, withdraw } from '../../pipelines/build/publish.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { releaseHold } from '../../pipelines/ledger/hold.ts';
import { withRun } from '../../pipelines/ledger/runs.ts';
import { parcelHistory } from '../../pipelines/operate/history.ts';
import { prune } from '../../pipelines/operate/prune.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { FEW_SOURCES, raisePrices, REGION, seismicZones, smallRegion, type Region } from '../harness/faults/region.ts';
import { describeEngines } from '../harness/database.ts';
import { daysGoBy, onOneDay, today } from '../harness/days.ts';
import { testEnvironment } from '../harness/environment.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions } from '../harness/region.ts';

/** Days between two events. */
const DAYS = 20;

/** Number of parcels. More parcels would only make each event longer. */
const PARCELS = 160;

/** Answer for a parcel: the record, the successor of a retired parcel, or the reason why there is no record. */
type Answered = Readonly<Record<string, unknown>> | { readonly gone: number | null } | 'not_there' | 'withdrawn_then';
/** The answer for a past day. */
type Answer = Answered | 'not_kept' | 'withdrawn';

/** Returns the values of a record by section and field, as the history lists them. A list is one value. */
function valuesIn(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { coverage } = record['meta'] as { readonly coverage: Readonly<Record<string, string>> };
  const values: Record<string, unknown> = Object.fromEntries(Object.entries(coverage).map(([section, word]) => [`${section} coverage`, word]));
  const add = (key: string, value: unknown): void => {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) values[key] = value;
    else for (const [name, inner] of Object.entries(value)) add(key.endsWith(' ') ? key + name : `${key}.${name}`, inner);
  };
  for (const section of SECTION_NAMES) add(`${section} `, record[section]);
  return values;
}

/** All answers at one time, by fid. */
type Moment = ReadonlyMap<number, Answered>;

/** Rows of a table by key, without the columns that refer to files. */
type Rows = ReadonlyMap<string, string>;

interface Kept extends Record<string, unknown> {
  readonly history: string;
  readonly relation: string;
  readonly key: readonly string[];
}

/** Returns the tables with history. */
function keptTables(database: Database): Promise<Kept[]> {
  return database.query<Kept>(
    `select h.relname as history, n.nspname || '.' || c.relname as relation,
       coalesce((select jsonb_agg(a.attname) from pg_index x join pg_attribute a on a.attrelid = c.oid and a.attnum = any (x.indkey::int2[]) where x.indrelid = c.oid and x.indisprimary), '[]') as key
     from pg_class h join pg_class c on c.relname = h.relname and c.relkind in ('r', 'p') join pg_namespace n on n.oid = c.relnamespace and n.nspname in ('core', 'section')
     where h.relnamespace = 'history'::regnamespace and h.relkind = 'r' order by 1`,
  );
}

async function rowsOf(database: Database, { relation, key }: Kept): Promise<Rows> {
  const rows = await database.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) - '{release_id,member_id,position,document_id}'::text[] as row from ${relation} t`);
  return new Map(rows.map(({ row }) => [JSON.stringify(key.length === 0 ? row : key.map((name) => row[name])), JSON.stringify(row)]));
}

/** Returns the number of history rows that a swap must add, one for each removed, changed or new row. Returns 0 for an empty earlier table. */
function different(before: Rows, now: Rows): number {
  if (before.size === 0) return 0;
  return [...before].filter(([key, row]) => now.get(key) !== row).length + [...now.keys()].filter((key) => !before.has(key)).length;
}

async function stored(database: Database, tables: readonly Kept[]): Promise<Record<string, number>> {
  const counts = await Promise.all(tables.map(async ({ history }) => {
    const [found] = await database.query<{ n: number }>(`select count(*) as n from history.${history}`);
    return [history, found!.n] as const;
  }));
  return Object.fromEntries(counts);
}

async function answered(database: Database, fids: readonly number[]): Promise<Moment> {
  const found = new Map<number, Answered>();
  for (const fid of fids) {
    const [answer] = await database.query<{ record: Record<string, unknown> | null; retired: { successor_fid: number | null } | null; withdrawn: boolean }>(
      `select api.parcel($1, $2) as record, api.retired_parcel($1) as retired,
         not exists (select from ledger.publication where unit_code = $3 and state = 'current') as withdrawn`, [fid, SECTION_NAMES, REGION],
    );
    const { record, retired, withdrawn } = answer!;
    found.set(fid, record ?? (retired !== null ? { gone: retired.successor_fid } : withdrawn ? 'withdrawn_then' : 'not_there'));
  }
  return found;
}

interface AsOf extends Record<string, unknown> {
  readonly answer: string | null;
  readonly refusal: { readonly reason: string; readonly kept_since: string; readonly successor_fid: number | null } | null;
}

/** Returns the answer for the end of the day that was `daysAgo` days ago. `keptSince` is the first day with history, if there is no answer. */
async function asOf(database: Database, fid: number, daysAgo: number): Promise<{ answer: Answer; meta: unknown; keptSince: string | null }> {
  const [found] = await database.query<AsOf>(
    "select answer, refusal from api.parcel_as_of($1, $2, (now() at time zone 'Europe/Rome')::date - $3::int4)", [fid, SECTION_NAMES, daysAgo],
  );
  const { answer, refusal } = found!;
  if (answer === null) {
    const { reason, kept_since: keptSince, successor_fid: gone } = refusal!;
    return { answer: reason === 'gone' ? { gone } : (reason as Answer), meta: null, keptSince };
  }
  const { meta: { as_of: meta, ...rest }, ...record } = JSON.parse(answer) as { meta: Record<string, unknown> };
  return { answer: { ...record, meta: rest }, meta, keptSince: null };
}

describeEngines('history', (engine) => {
  const random = randomOf('history', engine.name, testEnvironment().seed);
  /** Number of the last random event. The first random event has the number 2. The embedded database runs the same statements, but slowly. */
  const happenings = engine.name === 'postgres' ? 7 : 2;
  let region: Region;
  let context: Context;
  let database: Database;
  let url: string;
  let tables: Kept[];
  let fids: number[];
  const moments: Moment[] = [];
  const expected: Record<string, number> = {};
  const said: string[] = [];
  /** The last current rows of each table. Rows of a withdrawn region are removed only when other rows replace them. */
  const lasting = new Map<string, Rows>();

  const asRun = <T>(command: string, work: (run: number) => Promise<T>): Promise<T> =>
    withRun(database, { command, arguments: {}, version: 'test', host: 'test' }, ({ runId }) => work(runId));

  /** Publishes the files of a version, optionally with a further change. */
  async function publish(version: number, change?: (folder: string) => Promise<void>): Promise<void> {
    const folder = await region.version(version);
    await change?.(folder);
    const { failures } = await refresh(context, loadOptions([folder], [REGION], { accept: { who: 'test', why: 'a test' } }));
    expect(failures).toEqual([]);
  }

  const stateOf = async (state: 'current' | 'previous', region = REGION): Promise<boolean> => {
    const [found] = await database.query<{ there: boolean }>('select exists (select from ledger.publication where unit_code = $1 and state = $2) as there', [region, state]);
    return found!.there;
  };
  const back = async (region = REGION): Promise<void> => {
    if (await stateOf('previous', region)) await asRun('rollback', (run) => rollback(database, region, run));
  };
  const withdrawn = (): Promise<unknown> => asRun('withdraw', (run) => withdraw(database, REGION, run, null));
  const rebuiltAs = async (version: number): Promise<void> => {
    await releaseHold(database, REGION, null);
    await publish(version);
  };

  /** Simulates that `DAYS` days pass, runs an event, and records the answers after the event. */
  async function happens(what: string, work: () => Promise<unknown>): Promise<void> {
    await daysGoBy(database, DAYS);
    await work();
    said.push(what);
    moments.push(await answered(database, fids));
    if (await stateOf('current')) await countRows();
  }

  async function countRows(): Promise<void> {
    for (const table of tables) {
      const now = await rowsOf(database, table);
      const before = lasting.get(table.history);
      lasting.set(table.history, now);
      if (before !== undefined) expected[table.history] = (expected[table.history] ?? 0) + different(before, now);
    }
  }

  /** Checks that the answer for every past time equals the original answer at that time. */
  async function holds(): Promise<void> {
    const served = await stateOf('current');
    for (const [index, moment] of moments.entries()) {
      const daysAgo = (moments.length - 1 - index) * DAYS;
      const when = `after ${said.slice(0, index).join(', ') || 'the first load'}, then ${said.slice(index).join(', ')}`;
      for (const fid of fids) {
        const then = moment.get(fid)!;
        // If the region is withdrawn now, no past record is returned. Retired parcels and days without the region keep their answers.
        const now = served || then === 'withdrawn_then' || (typeof then === 'object' && 'gone' in then) ? then : 'withdrawn';
        expect((await asOf(database, fid, daysAgo)).answer, `${fid} ${when}`).toEqual(now);
      }
    }
  }

  beforeAll(async () => {
    await onOneDay();
    region = await smallRegion(FEW_SOURCES, PARCELS);
    url = await migratedDatabase(engine);
    database = await engine.openDatabase(url);
    context = await contextOn(database);
    await publish(0);
    tables = await keptTables(database);
    // Each later version removes one of the 11th to 15th parcels of a comune. These parcels, their neighbours and a tenth of all parcels are checked.
    const all = await database.query<{ fid: number; comune: string; turn: number }>(
      `select p.fid, p.belfiore as comune, row_number() over (partition by p.belfiore order by n.position)::int4 as turn
       from core.parcel p join layer.cadastral_parcel n using (reference) order by p.fid`,
    );
    const { comune } = all.find(({ comune: code }) => code === 'Z002')!;
    const near = all.filter((each) => each.comune === comune && each.turn > 8 && each.turn < 18);
    fids = [...near, ...all.filter((_, index) => index % 10 === 0)].map(({ fid }) => fid);
    fids.push(1_499_999_999);
    moments.push(await answered(database, fids));
    await countRows();
  });
  afterAll(() => region.remove());

  it('is kept for tables that a record reads, each of these tables has a view in the schema past, and a first load writes no history', async () => {
    expect(tables.map(({ relation }) => relation)).toEqual(expect.arrayContaining(['core.comune', 'core.parcel', 'core.quotation', 'section.address', 'section.risk']));
    const views = await database.query<{ name: string }>("select relname::text as name from pg_class where relnamespace = 'past'::regnamespace and relkind = 'v'");
    expect(views.map(({ name }) => name).sort()).toEqual([...tables.map(({ relation }) => relation.slice(relation.indexOf('.') + 1)), 'publication'].sort());
    expect(await stored(database, tables)).toEqual(Object.fromEntries(tables.map(({ history }) => [history, 0])));
  });

  it('returns the current publication for today, and no record for days before the first publication', async () => {
    const fid = fids[3]!;
    const { answer, meta } = await asOf(database, fid, 0);
    expect(answer).toEqual(moments[0]!.get(fid));
    expect(meta).toMatchObject({ publication: expect.any(Number) as number, in_force_since: expect.stringMatching(/Z$/) as string });
    const before = await asOf(database, fid, 1);
    expect(before.answer).toBe('not_kept');
    expect(before.keptSince).toBe(await today(database));
  });

  it('returns the original answer for every past day after any events, and stores unchanged rows once', async () => {
    const kinds: readonly (readonly [string, (number: number) => Promise<unknown>])[] = [
      ['other files', (number) => publish(1 + (number % 5))],
      ['parcels return', () => publish(0)],
      ['other prices', (number) => publish(1 + (number % 5), (folder) => raisePrices(folder, 10 * number))],
      ['other zones', (number) => publish(0, (folder) => seismicZones(folder, String(1 + (number % 4))))],
      ['rollback', () => back()],
      ['rollback of Italy', () => back(0)],
      ['prune', () => prune(database, context.sources)],
      ['withdrawn and published again', async () => {
        await withdrawn();
        await back();
      }],
    ];
    await happens('other files', () => publish(1));
    await happens('rollback', () => back());
    for (let number = 2; number <= happenings; number += 1) {
      const [what, work] = kinds[Math.floor(random.next() * kinds.length)]!;
      await happens(what, () => work(number));
    }
    await happens('withdrawn', withdrawn);
    await holds();
    await expect(parcelHistory(database, fids[0]!)).rejects.toMatchObject({ code: 'NOT_PUBLISHED', exitCode: 2, fix: 'npx mappale rollback molise' });
    // Version 2 removes a parcel while the region is not served. Version 0 later restores a retired parcel.
    await happens('published anew', () => rebuiltAs(2));
    await happens('withdrawn', withdrawn);
    await happens('back', () => back());
    await happens('withdrawn', withdrawn);
    await happens('published anew', () => rebuiltAs(0));
    await holds();
    expect(await stored(database, tables), said.join(', ')).toEqual(expected);
    expect(Object.values(expected).reduce((sum, rows) => sum + rows, 0)).toBeGreaterThan(0);
  });

  it('lists the values of a parcel over time, equal to the record at each time', async () => {
    for (const fid of fids) {
      const { fields, absences, kept_since: keptSince } = await parcelHistory(database, fid);
      for (const { section, field, values } of fields) {
        for (const [index, { value, since, until }] of values.entries()) {
          const next = values[index + 1];
          expect(until === null).toBe(next === undefined && absences.at(-1)?.until !== null);
          // Times have a resolution of seconds. A withdrawal that ended within a second has no duration.
          if (next?.since === until && !absences.some((absence) => absence.since === until)) expect(next?.value, `${fid} ${section}.${field} ${since}`).not.toEqual(value);
        }
      }
      for (const [index, moment] of moments.entries()) {
        // The tested time is half-way to the next event.
        const time = new Date(Date.now() - ((moments.length - 1 - index) * DAYS - DAYS / 2) * 86_400_000).toISOString();
        const within = ({ since, until }: { since: string; until: string | null }): boolean => since <= time && (until === null || time < until);
        const then = moment.get(fid)!;
        const when = `${fid} after ${said.slice(0, index).join(', ') || 'the first load'} of ${said.join(', ')}`;
        const found = new Map(fields.flatMap(({ section, field, values }) => values.filter(within).filter(({ value }) => value !== undefined).map(({ value }) => [`${section} ${field}`, value])));
        const absent = absences.filter(within).map(({ why, successor_fid: gone }) => (why === 'gone' ? { gone } : why === 'withdrawn' ? 'withdrawn_then' : why));
        if (typeof then === 'string' || 'gone' in then) expect([absent, found.size], when).toEqual([[then], 0]);
        else {
          expect([absent, Object.fromEntries(found)], when).toEqual([[], valuesIn(then)]);
        }
      }
      expect(keptSince).toMatch(/Z$/);
    }
    const { fields } = await parcelHistory(database, fids[3]!);
    const zones = fields.find(({ section, field }) => section === 'risk' && field === 'seismic_zone')!.values;
    expect(zones.length).toBeGreaterThan(1);
    expect(zones[0]!.release).toMatch(/\(.+\)/);
  });

  it('ends a day at midnight in Italy, even if daylight saving time changes, and uses the later of two swaps of a day', async () => {
    const moment = moments.at(-1)!;
    const fid = fids.find((each) => typeof moment.get(each) === 'object' && !('gone' in (moment.get(each) as object)))!;
    const before = await database.query<{ id: number; at: string }>('select swap_id as id, happened_at::text as at from ledger.swap');
    const answer = async (day: string): Promise<string> => {
      const [found] = await database.query<AsOf>('select answer, refusal from api.parcel_as_of($1, $2, $3::date)', [fid, SECTION_NAMES, day]);
      return found!.answer === null ? found!.refusal!.reason : 'record';
    };
    // The last swap restored the region.
    for (const [last, dayBefore, day] of [
      ['2025-03-29T22:59:59.999999Z', '2025-03-28', '2025-03-29'], ['2025-03-29T23:00:00Z', '2025-03-29', '2025-03-30'],
      ['2025-03-30T21:59:59.999999Z', '2025-03-29', '2025-03-30'], ['2025-03-30T22:00:00Z', '2025-03-30', '2025-03-31'],
      ['2025-10-25T21:59:59.999999Z', '2025-10-24', '2025-10-25'], ['2025-10-25T22:00:00Z', '2025-10-25', '2025-10-26'],
      ['2025-10-26T22:59:59.999999Z', '2025-10-25', '2025-10-26'], ['2025-10-26T23:00:00Z', '2025-10-26', '2025-10-27'],
    ] as const) {
      const apart = async (interval: string): Promise<void> => {
        const sql = 'update ledger.swap set happened_at = $1::timestamptz - ((select max(swap_id) from ledger.swap where unit_code = $3) - swap_id) * $2::interval';
        await database.query(sql, [last, interval, REGION]);
      };
      await apart('3 days');
      expect([last, await answer(dayBefore), await answer(day)]).toEqual([last, 'withdrawn_then', 'record']);
      // All swaps are one microsecond apart. They are on one day unless the last swap is exactly at midnight.
      await apart('1 microsecond');
      expect([last, await answer(day)]).toEqual([last, 'record']);
    }
    for (const { id, at } of before) await database.query('update ledger.swap set happened_at = $2::timestamptz where swap_id = $1', [id, at]);
  });

  describe('after pruning', () => {
    it('begins at the requested time, and the answers for later times are unchanged', async () => {
      const months = 1;
      const dry = await prune(database, context.sources, { dry: true, keep: months });
      const done = await prune(database, context.sources, { keep: months });
      expect(done.history).toEqual(dry.history);
      expect(done.history!.swaps).toBeGreaterThan(0);
      let refused = 0;
      for (const [index, moment] of moments.entries()) {
        const daysAgo = (moments.length - 1 - index) * DAYS;
        for (const fid of fids) {
          const { answer, keptSince } = await asOf(database, fid, daysAgo);
          if (answer === 'not_kept') {
            refused += 1;
            expect(daysAgo).toBeGreaterThan(27);
            expect(keptSince).toMatch(/^\d{4}-\d\d-\d\d$/);
          } else {
            expect(daysAgo).toBeLessThan(32);
            expect(answer).toEqual(moment.get(fid));
          }
        }
      }
      expect(refused).toBeGreaterThan(0);
      expect((await prune(database, context.sources, { keep: months })).history).toEqual({ rows: 0, swaps: 0 });
    });

    it('contains only the current publication if everything older is pruned', async () => {
      await prune(database, context.sources, { keep: 0 });
      expect(await stored(database, tables)).toEqual(Object.fromEntries(tables.map(({ history }) => [history, 0])));
      const moment = moments.at(-1)!;
      for (const fid of fids) expect((await asOf(database, fid, 0)).answer).toEqual(moment.get(fid));
    });
  });
});
