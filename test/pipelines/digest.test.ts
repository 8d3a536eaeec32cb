/** Tests the digests of published tables, including digests that are computed only from the replaced rows. */
import { expect, it } from 'vitest';
import { digestOf, patchedContent, type Content } from '../../pipelines/db/comparing.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';

const { seed } = testEnvironment();

/** A row of the table, with a key, a text, two numbers and a `member_id`. The digest ignores the `member_id`. */
type Values = readonly [fid: number, name: string | null, a: number | null, b: number | null, member: number];

const ROWS: readonly Values[] = [[1, 'via Roma', 10, 20, 1], [2, null, 10, 20, 1], [3, '', 0, null, 1], [4, 'a,b', -1, 2, 2]];
const PATCH = { columns: ['a', 'b', 'fid', 'member_id', 'name'] };
const place = (table: string): { schema: string; table: string } => ({ schema: 'public', table });

describeEngines('the digest of a table', (engine) => {
  async function made(...tables: readonly string[]): Promise<Database> {
    const database = await engine.openDatabase();
    await database.script(tables.map((name) => `create table ${name} (fid int4, name text, a int4, b int4, member_id int4);`).join('\n'), 'digest.test.ts');
    return database;
  }

  async function fill(database: Database, table: string, rows: readonly Values[]): Promise<void> {
    await database.query(`truncate ${table}`);
    for (const row of rows) await database.query(`insert into ${table} (fid, name, a, b, member_id) values ($1, $2, $3, $4, $5)`, [...row]);
  }

  const contentOf = (database: Database, table: string): Promise<Content> => database.session((session) => digestOf(session, 'public', table));

  /** Returns the digest that earlier versions stored. */
  async function earlierDigest(database: Database, table: string): Promise<string> {
    const [row] = await database.query<{ digest: string }>(
      `select coalesce(sum(hashtextextended(row(t.a, t.b, t.fid, t.name)::text, 0)::numeric), 0)::text as digest from ${table} t`,
    );
    return row!.digest;
  }

  it('consists of two sums of 64-bit hashes with different seeds, for any number of rows', async () => {
    const database = await made('t');
    for (const count of [0, 1, 2, ROWS.length]) {
      await fill(database, 't', ROWS.slice(0, count));
      const [sums] = await database.query<{ first: string; second: string }>(
        `select coalesce(sum(hashtextextended(row(t.a, t.b, t.fid, t.name)::text, 0)), 0)::text as first,
           coalesce(sum(hashtextextended(row(t.a, t.b, t.fid, t.name)::text, 1)), 0)::text as second
         from t`,
      );
      expect(await contentOf(database, 't')).toEqual({ rows: count, digest: `${sums!.first} ${sums!.second}` });
      expect(await earlierDigest(database, 't')).toBe(sums!.first);
      if (count > 0) expect(sums!.first).not.toBe(sums!.second);
    }
  });

  it('changes in both sums if a value changes, rows swap values, or a row is missing or repeated, and not if only the order or the member_id changes', async () => {
    const database = await made('t');
    const digest = async (rows: readonly Values[]): Promise<string> => {
      await fill(database, 't', rows);
      return (await contentOf(database, 't')).digest;
    };
    const same = await digest(ROWS);
    expect(await digest(ROWS.toReversed())).toBe(same);
    expect(await digest(ROWS.map(([fid, name, a, b]) => [fid, name, a, b, 9]))).toBe(same);
    const [first, second, third, last] = ROWS as unknown as [Values, Values, Values, Values];
    const changed: readonly (readonly Values[])[] = [
      [[5, ...first.slice(1)] as unknown as Values, second, third, last],
      [[1, 'via roma', 10, 20, 1], second, third, last],
      [[1, 'via Roma', 11, 20, 1], second, third, last],
      [[1, 'via Roma', 10, null, 1], second, third, last],
      [first, [2, '', 10, 20, 1], third, last],
      [first, second, [3, null, 0, null, 1], last],
      // The values of two columns of one row are swapped.
      [[1, 'via Roma', 20, 10, 1], second, third, last],
      // Two rows swap their values in one column. Each column still has the same values.
      [[1, null, 10, 20, 1], [2, 'via Roma', 10, 20, 1], third, last],
      [first, second, [3, '', -1, null, 1], [4, 'a,b', 0, 2, 2]],
      // A row is missing, or repeated.
      [first, second, third],
      [...ROWS, last],
      [...ROWS, first, first],
    ];
    const sums = [same];
    for (const rows of changed) sums.push(await digest(rows));
    for (const at of [0, 1]) expect(new Set(sums.map((each) => each.split(' ')[at])).size).toBe(changed.length + 1);
  });

  it('can be computed from the added and removed rows, even if an earlier version computed the previous digest', async () => {
    const database = await made('was', 'now', 'gone', 'came');
    const random = randomOf('digest', seed);
    const value = (): number | null => (random.below(5) === 0 ? null : random.below(1_000) - 500);
    const row = (fid: number): Values => [fid, random.pick([null, '', 'via Roma', 'è,"(']), value(), value(), random.below(3)];
    let fid = 0;
    let rows: readonly Values[] = [];
    for (let night = 0; night < 12; night += 1) {
      const gone = night === 5 ? rows : rows.filter(() => random.below(4) === 0);
      const came = [...gone.filter(() => random.below(2) === 0).map(([each]) => row(each)), ...Array.from({ length: random.below(6) }, () => row((fid += 1)))];
      const next = [...rows.filter((each) => !gone.includes(each)), ...came];
      await fill(database, 'was', rows);
      await fill(database, 'gone', gone);
      await fill(database, 'came', came);
      await fill(database, 'now', next);
      const patch = { gone: place('gone'), came: place('came'), ...PATCH };
      const whole = await contentOf(database, 'now');
      const before = await contentOf(database, 'was');
      const patched = async (digest: string): Promise<Content> => database.session((session) => patchedContent(session, patch, place('was'), { rows: before.rows, digest }));
      expect(await patched(before.digest), `seed ${seed}, night ${night}`).toEqual(whole);
      expect(await patched(await earlierDigest(database, 'was')), `seed ${seed}, night ${night}`).toEqual(whole);
      rows = next;
    }
  });
});
