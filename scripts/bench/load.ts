/**
 * Measures full loads: `mappale refresh` loads the files of a synthetic region, about as dense as Italy, into an empty database. The program runs in a child
 * process, so that the CPU time and memory of the benchmark are not measured. The times of steps come from the ledger. The times of tables come from the log.
 */
import { regionName } from '../../pipelines/contract/regions.ts';
import { onDatabase, one, type Database } from '../../pipelines/db/index.ts';
import { textTable } from '../../pipelines/text-table.ts';
import { rounded, stepOf, type Measurement, type Step } from './history.ts';
import { watchServer } from './server-watch.ts';
import { megabytes, number, onFreshDatabase, runProgram, say, SyntheticFiles, thousands, type Bench, type Fresh, type Result } from './shared.ts';

const SIZES = [20_000, 200_000, 1_000_000];

export const run: Bench = (databaseUrl, sizes) => SyntheticFiles.during(async (files) => {
  const results: Result[] = [];
  for (const parcels of sizes.length === 0 ? SIZES : sizes) {
    const load = await onFreshDatabase(databaseUrl, (fresh) => measureLoad(fresh, files, parcels));
    describe(load);
    results.push({ bench: 'load', ...load });
  }
  return results;
});

function describe({ size, seconds, steps, cpuSeconds, peakMiB, walBytes, diskBytes: { published, after, peak } }: Measurement): void {
  say(`load: ${thousands(size)} parcels in ${number(seconds, 1)} s`);
  say(textTable(
    steps
      .filter((step) => (step.seconds ?? 0) >= 0.1)
      .map((step) => [step.name, step.seconds, step.rows, step.rowsPerSecond === null ? null : Math.round(step.rowsPerSecond)]),
    ['step', 's', 'rows', 'rows/s'],
  ));
  say(`  CPU: Node ${number(cpuSeconds.node, 1)} s, server ${number(cpuSeconds.server, 1)} s`);
  say(`  peak memory: Node ${number(peakMiB.node)} MiB, server ${number(peakMiB.server)} MiB without shared buffers`);
  say(`  WAL ${megabytes(walBytes)}; disk: published ${megabytes(published)}, database ${megabytes(after)}, peak ${megabytes(peak)}`);
}

/** Loads a region into an empty database, and returns the measurement. */
export async function measureLoad({ url, name, server }: Fresh, files: SyntheticFiles, parcels: number): Promise<Measurement> {
  const folder = await files.of(parcels);
  await runProgram(['migrate'], { DATABASE_URL: url });
  const startedAt = performance.now();
  const { result, use } = await watchServer(server, name, async () => {
    const ran = await runProgram(['refresh', '--data', folder, '--force'], { DATABASE_URL: url });
    return { ...ran, seconds: (performance.now() - startedAt) / 1000 };
  });
  return onDatabase(url, 'write', async (database) => {
    const { published, after } = await one<{ published: number; after: number }>(database, `
      select
        pg_database_size(current_database())::float8 as after,
        (select coalesce(sum(pg_total_relation_size(oid)), 0) from pg_class where relkind = 'r' and relnamespace in ('core'::regnamespace, 'section'::regnamespace))::float8 as published`);
    const { parallel } = await one<{ parallel: number }>(database, "select (arguments ->> 'parallel')::int4 as parallel from ledger.run where command = 'refresh'");
    return {
      size: parcels,
      seconds: rounded(result.seconds),
      steps: [stepOf('all', result.seconds, parcels), ...(await stepsOf(database, result.tables))],
      cpuSeconds: { node: rounded(result.cpuSeconds), server: use.cpuSeconds === null ? null : rounded(use.cpuSeconds) },
      peakMiB: { node: Math.round(result.peakMiB), server: use.peakMiB },
      walBytes: use.walBytes,
      diskBytes: { published, after, peak: Math.max(use.peakDiskBytes, after) },
      figures: { parallel },
    };
  });
}

/**
 * Returns the steps of the run in the order in which they first started, with times summed over the releases of each source. The builds of the tables follow.
 */
async function stepsOf(database: Database, tables: ReadonlyMap<string, number>): Promise<Step[]> {
  const ran = await database.query<{ step: string; subject: string; seconds: number }>(
    'select step, subject, extract(epoch from ended_at - started_at)::float8 as seconds from ledger.step where ended_at is not null order by step_id',
  );
  const releases = await database.query<{ source: string; records: number; rows: number }>(
    `select source_id as source, sum(records)::float8 as records, sum((select sum(value::int8) from jsonb_each_text(layers)))::float8 as rows
     from ledger.release where state = 'loaded' group by source_id`,
  );
  const built = new Map((await database.query<{ relation: string; rows: number }>(
    "select relation, sum(rows)::float8 as rows from ledger.publication_table join ledger.publication using (publication_id) where state = 'current' group by relation",
  )).map(({ relation, rows }) => [relation, rows]));
  const found = new Map<string, { seconds: number; readonly rows: number | null }>();
  const add = (name: string, seconds: number, rows: number | null): void => {
    const known = found.get(name);
    if (known === undefined) found.set(name, { seconds, rows });
    else known.seconds += seconds;
  };
  for (const { step, subject, seconds } of ran) {
    const [source] = subject.split(' ');
    const release = releases.find((each) => each.source === source);
    if (release !== undefined) add(`${step} ${release.source}`, seconds, step === 'stage' ? release.records : release.rows);
    else if (subject === regionName(0)) add(`${step} of Italy`, seconds, null);
    else add(step, seconds, step === 'recover' ? null : built.get('core.parcel') ?? null);
  }
  for (const [relation, seconds] of tables) add(relation, seconds, built.get(relation) ?? null);
  return [...found].map(([name, { seconds, rows }]) => stepOf(name, seconds, rows));
}
