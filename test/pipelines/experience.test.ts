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

  it('divides only the time of a region\'s build steps by its parcels, even if the same run also built Italy and another region', async () => {
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

  it('measures the speed of a source without releases that reuse members of an earlier release, unless the source has no other release', async () => {
    for (const [source, release, bytes, seconds, takenFrom] of [
      ['ade_cadastre', 'first', 8_000, 40, null], ['ade_cadastre', 'nightly', 8_000, 1, 1], ['anncsu_addresses', 'nightly', 6_000, 3, 1],
    ] as const) {
      await database.query(
        `with release as (
           insert into ledger.release (source_id, vintage, fingerprint, reader, complete, state, created_at, loaded_at)
           values ($1, '2026', $1::text || $2::text, '', true, 'loaded', now(), now() + make_interval(secs => $4)) returning release_id
         ), file as (
           insert into ledger.file (release_id, path, name, role, sha256, size, vintage, complete)
           select release_id, '', '', '', '', $3::int8, '2026', true from release returning release_id, file_id
         )
         insert into ledger.member (release_id, file_id, path, taken_from)
         select release_id, file_id, x.path, x.taken_from from file cross join (values ('a', null), ('b', $5::int4)) as x (path, taken_from)`,
        [source, release, bytes, seconds, takenFrom],
      );
    }
    const { bySource, all } = await readExperience(database);
    expect([bySource.get('ade_cadastre'), bySource.get('anncsu_addresses')].map((rate) => rate?.bytesPerSecond)).toEqual([200, 2_000]);
    expect(all!.bytesPerSecond).toBeCloseTo(14_000 / 43);
  });
});
