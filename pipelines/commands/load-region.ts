import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { expandPath } from '../config.ts';
import { withContext, type Context } from '../context.ts';
import { duration, group } from '../progress.ts';
import { SECTIONS } from '../sections.ts';
import { exitCodeOf, refresh, type RefreshReport } from '../steps/refresh.ts';
import { acceptance, collectPaths, command, parseCount, parseRegion, print, table } from './command.ts';
import { writeSynthetic } from './synth.ts';

/** The invented region that a newcomer sees: small enough for a minute, large enough for every section. */
export const DEMO = { parcels: 2000, seed: 1, region: 14 } as const;

export function loadRegionCommand(): Command {
  return command('load-region', 'Load one region: raw files in, published database out. Without arguments: the invented demo region.', [
    'mappale load-region',
    'mappale load-region molise --data ~/downloads',
    'DATABASE_URL=postgres://me@localhost/italy mappale load-region molise --data ~/cadastre --data ~/istat',
  ])
    .argument('[region]', 'name or ISTAT code; none: the invented demo region')
    .option('--data <folder>', 'folder with downloaded files, searched recursively; may be given more than once', collectPaths)
    .option('--parallel <n>', 'releases to read at the same time', parseCount, 2)
    .option('--accept <reason>', 'publish although the quality gate refuses; who, why and the figures are kept in the ledger')
    .option('--force', 'start although the disk seems too small')
    .option('--json', 'print the report as JSON')
    .action(async (region: string | undefined, options: { data?: string[]; parallel: number; accept?: string; force?: boolean; json?: boolean }) => {
      process.exitCode = await withContext({ access: 'write' }, async (context) => {
        const demo = region === undefined && options.data === undefined;
        const code = region === undefined ? DEMO.region : parseRegion(region).code;
        const data = demo ? [await writeDemo(context)] : (options.data ?? ['data']).map(expandPath);
        const report = await refresh(context, { command: 'load-region', data, regions: [code], parallel: options.parallel, accept: acceptance(context, options.accept), force: options.force === true });
        const example = await anyParcel(context, code);
        print(options.json, report, () => describe(report, example));
        return exitCodeOf(report);
      });
    });
}

async function writeDemo(context: Context): Promise<string> {
  const folder = join('.mappale', 'demo');
  await mkdir(folder, { recursive: true });
  context.log.info(`writing the raw files of an invented region (${DEMO.parcels} parcels, seed ${DEMO.seed}) to ${folder}`);
  await writeSynthetic(context.sources, folder, DEMO.parcels, DEMO.seed);
  return folder;
}

/** A parcel worth showing: one with an address and a hazard where there is one, else any. */
async function anyParcel(context: Context, region: number): Promise<Record<string, unknown> | null> {
  const [row] = await context.database.query<{ record: Record<string, unknown> | null }>(
    `select api.parcel(p.fid, $2) as record from core.parcel p
     where p.fid >= $1 and p.fid < $1 + 100000000 and p.kind = 'land' order by p.fid limit 1`,
    [region * 100_000_000, SECTIONS],
  );
  return row?.record ?? null;
}

/** The report as a person reads it, with one record and what to type next. */
export function describe(report: RefreshReport, example: Record<string, unknown> | null): string {
  const lines: string[] = [];
  if (report.runId === null && report.failures.length === 0) lines.push(`nothing to do: everything is up to date (${duration(report.seconds)})`);
  if (report.loaded.length > 0) {
    lines.push(table(report.loaded.map((release) => [release.source, release.vintage, release.records, release.rows, release.rejects, release.duplicates, duration(release.seconds)]),
      ['source', 'vintage', 'records', 'rows', 'rejects', 'duplicates', 'time']), '');
  }
  for (const unit of report.units) {
    lines.push(`${unit.name}: published as ${unit.publicationId}, ${unit.built.map(({ relation, rows }) => `${relation} ${group(rows)}`).join(', ')} (${duration(unit.seconds)})`);
    if (unit.missing.length > 0) lines.push(`  not loaded, so not mapped: ${unit.missing.join(', ')}`);
  }
  if (report.estimate !== null) lines.push(`took ${duration(report.seconds)}, estimated ${duration(report.estimate.seconds)}`);
  if (report.survey.unknown.length > 0) lines.push(`files that no source reads: ${report.survey.unknown.length} (mappale plan --data … names them)`);
  for (const failure of report.failures) lines.push(failure.report());
  if (example !== null) {
    lines.push('', JSON.stringify(example, null, 2), '', 'Next:', `  npx mappale parcel ${String(example['fid'])} --include basic,risk`, '  npx mappale status', '  npx mappale sources');
  }
  return lines.join('\n');
}
