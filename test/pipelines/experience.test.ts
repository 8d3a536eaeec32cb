/** Tests the rates that a plan takes from earlier runs on the database. */
import { beforeEach, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { readExperience } from '../../pipelines/ledger/experience.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { openRun } from '../harness/run.ts';

describeDatabase('the experience of a database', (engine) => {
  let database: Database;

  beforeEach(async () => {
    ({ database } = await freshContext(engine));
  });

  it('divides only the steps of a region by its parcels if the same run also built Italy and another region', async () => {
    const runId = await openRun(database);
    for (const [step, subject, seconds] of [
      ['join', 'Italia', 1_000], ['join', 'Molise', 30], ['check', 'Molise', 6], ['gate', 'Molise', 3], ['publish', 'Molise', 1], ['join', 'Puglia', 500], ['load', 'Molise', 70],
    ] as const) {
      await database.query(
        'insert into ledger.step (run_id, step, subject, started_at, ended_at) values ($1, $2, $3, now(), now() + make_interval(secs => $4))',
        [runId, step, subject, seconds],
      );
    }
    for (const [region, parcels] of [[14, 400], [16, 9_000]] as const) {
      await database.query("insert into ledger.publication (unit_code, run_id, state) values ($1, $2, 'current')", [region, runId]);
      await database.query(
        `insert into ledger.publication_table (publication_id, relation, partition, fingerprint, inputs, rows, digest)
         select publication_id, 'core.parcel', 'parcel_' || unit_code, '', '{}', $2::int8, '' from ledger.publication where unit_code = $1`, [region, parcels],
      );
    }
    expect((await readExperience(database)).perParcel).toEqual({ seconds: 0.1, bytes: 0 });
  });
});
