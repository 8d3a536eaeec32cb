/** State of the database as a Prometheus text file (node exporter's textfile collector). */
import { rename, writeFile } from 'node:fs/promises';
import type { Database } from '../db/index.ts';
import { statementsOf } from '../db/statements.ts';
import { findRegion } from '../contract/regions.ts';

/** Writes beside and renames, so that a collector never reads half a file. */
export async function writeMetrics(database: Database, path: string, exitCode: number): Promise<void> {
  const statement = statementsOf('operate');
  const regions = await database.query<{ unit: number; published: number; parcels: number }>(statement('published_parcels'));
  const sources = await database.query<{ source: string; records: number; rejects: number }>(statement('records'));
  const ofRegion = (unit: number): string => `{region="${findRegion(unit)?.slug ?? unit}"}`;
  const ofSource = (source: string): string => `{source="${source}"}`;
  const gauge = (name: string, help: string, values: readonly (readonly [labels: string, value: number])[]): string[] =>
    [`# HELP mappale_${name} ${help}`, `# TYPE mappale_${name} gauge`, ...values.map(([labels, value]) => `mappale_${name}${labels} ${value}`)];
  const lines = [
    ...gauge('last_run_exit_code', 'Exit code of the last refresh (0: done).', [['', exitCode]]),
    ...gauge('last_run_timestamp_seconds', 'When the last refresh ended.', [['', Math.floor(Date.now() / 1000)]]),
    ...gauge('published_timestamp_seconds', 'When the region in force was published.', regions.map(({ unit, published }) => [ofRegion(unit), published])),
    ...gauge('parcels', 'Parcels in force.', regions.map(({ unit, parcels }) => [ofRegion(unit), parcels])),
    ...gauge('records', 'Records of loaded releases.', sources.map(({ source, records }) => [ofSource(source), records])),
    ...gauge('rejects', 'Records refused in loaded releases.', sources.map(({ source, rejects }) => [ofSource(source), rejects])),
  ];
  await writeFile(`${path}.tmp`, `${lines.join('\n')}\n`);
  await rename(`${path}.tmp`, path);
}
