/** State of the database as a Prometheus text file (node exporter's textfile collector). */
import { rename, writeFile } from 'node:fs/promises';
import type { Database } from '../db/index.ts';
import { findRegion } from '../contract/regions.ts';

/** Writes beside and renames, so that a collector never reads half a file. */
export async function writeMetrics(database: Database, path: string, exitCode: number): Promise<void> {
  const regions = await database.query<{ unit: number; published: number; parcels: number }>(
    `select p.unit_code::int4 as unit, extract(epoch from p.published_at)::int8 as published, t.rows as parcels
     from ledger.publication p join ledger.publication_table t using (publication_id)
     where p.state = 'current' and p.unit_code > 0 and t.relation = 'core.parcel' order by 1`,
  );
  const rejects = await database.query<{ source: string; records: number; rejects: number }>(
    `select source_id as source, sum(records)::int8 as records, sum(rejects)::int8 as rejects from ledger.release where state = 'loaded' group by 1 order by 1`,
  );
  const lines = [
    '# HELP mappale_last_run_exit_code Exit code of the last refresh (0: done).', '# TYPE mappale_last_run_exit_code gauge', `mappale_last_run_exit_code ${exitCode}`,
    '# HELP mappale_last_run_timestamp_seconds When the last refresh ended.', '# TYPE mappale_last_run_timestamp_seconds gauge', `mappale_last_run_timestamp_seconds ${Math.floor(Date.now() / 1000)}`,
    '# HELP mappale_published_timestamp_seconds When the region in force was published.', '# TYPE mappale_published_timestamp_seconds gauge',
    ...regions.map(({ unit, published }) => `mappale_published_timestamp_seconds{region="${findRegion(unit)!.slug}"} ${published}`),
    '# HELP mappale_parcels Parcels in force.', '# TYPE mappale_parcels gauge',
    ...regions.map(({ unit, parcels }) => `mappale_parcels{region="${findRegion(unit)!.slug}"} ${parcels}`),
    '# HELP mappale_records Records of loaded releases.', '# TYPE mappale_records gauge',
    ...rejects.map(({ source, records }) => `mappale_records{source="${source}"} ${records}`),
    '# HELP mappale_rejects Records refused in loaded releases.', '# TYPE mappale_rejects gauge',
    ...rejects.map(({ source, rejects: refused }) => `mappale_rejects{source="${source}"} ${refused}`),
  ];
  await writeFile(`${path}.tmp`, `${lines.join('\n')}\n`);
  await rename(`${path}.tmp`, path);
}
