import { join } from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { expandPath } from '../config.ts';
import { withContext, type Context } from '../run/context.ts';
import { duration, group } from '../progress.ts';
import { firstFid } from '../contract/regions.ts';
import { SECTION_NAMES } from '../contract/sections.ts';
import { exitCodeOf, refresh, type RefreshReport } from '../run/refresh.ts';
import { textTable } from '../text-table.ts';
import { acceptance, collectPaths, command, describeUnknown, parseCount, parseRegion, print } from './command.ts';

/** The synthetic region that a newcomer sees: small enough for a minute, large enough for every section. */
export const DEMO = { parcels: 2000, seed: 1, region: 14 } as const;

export function loadRegionCommand(): Command {
  return command('load-region', 'Load one region: raw files in, published database out. Without arguments: the synthetic demo region.', [
    'mappale load-region',
    'mappale load-region molise --data ~/downloads',
    'DATABASE_URL=postgres://me@localhost/italy mappale load-region molise --data ~/cadastre --data ~/istat',
  ])
    .argument('[region]', 'name or ISTAT code; none: the synthetic demo region')
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
  const { writeSynthetic } = await import('../synthetic/synthetic.ts');
  const folder = join('.mappale', 'demo');
  await mkdir(folder, { recursive: true });
  context.log.info(`writing the raw files of a synthetic region (${DEMO.parcels} parcels, seed ${DEMO.seed}) to ${folder}`);
  await writeSynthetic(context.sources, folder, DEMO);
  return folder;
}

/** A parcel worth showing: one with an address and a hazard where there is one, else any. */
async function anyParcel(context: Context, region: number): Promise<Record<string, unknown> | null> {
  const [row] = await context.database.query<{ record: Record<string, unknown> | null }>(
    `select api.parcel(p.fid, $2) as record from core.parcel p
     where p.fid >= $1 and p.fid < $3 and p.kind = 'land' order by p.fid limit 1`,
    [firstFid(region), SECTION_NAMES, firstFid(region + 1)],
  );
  return row?.record ?? null;
}

/** The report as a person reads it, on one screen: with one record in short, and what to type next. */
export function describe(report: RefreshReport, example: Record<string, unknown> | null): string {
  const lines: string[] = [];
  if (report.runId === null && report.failures.length === 0) lines.push(`nothing to do: everything is up to date (${duration(report.seconds)})`);
  if (report.loaded.length > 0) {
    lines.push(textTable(bySource(report.loaded).map((each) => [each.source, each.vintages, each.records, each.rows, each.rejects, each.duplicates, duration(each.seconds)]),
      ['source', 'vintage', 'records', 'rows', 'rejects', 'duplicates', 'time']), '');
  }
  for (const unit of report.units) {
    const rows = new Map(unit.built.map((each) => [each.relation as string, each.rows]));
    const counts = ([['core.parcel', 'parcels'], ['core.access_point', 'addresses'], ['core.comune', 'comuni']] as const)
      .flatMap(([relation, what]) => (rows.has(relation) ? [`${group(rows.get(relation)!)} ${what}`] : []));
    lines.push(`${unit.name}: published as ${unit.publicationId}: ${[...counts, `${unit.built.length} tables made`].join(', ')} (${duration(unit.seconds)})`);
    if (unit.missing.length > 0) lines.push(`  not loaded, so not mapped: ${unit.missing.join(', ')}`);
    for (const note of unit.notes) lines.push(`  ${note}`);
  }
  for (const held of report.held) lines.push(held);
  if (report.estimate !== null) lines.push(`took ${duration(report.seconds)}, estimated ${duration(report.estimate.seconds)}`);
  lines.push(...describeFiles(report));
  for (const failure of report.failures) lines.push(failure.report());
  if (example !== null) {
    lines.push('', inShort(example), '', 'Next:', `  npx mappale parcel ${String(example['fid'])}    the whole record`, '  npx mappale status', '  npx mappale serve');
  }
  return lines.join('\n');
}

/** Files of a refresh that nothing is made from, and those in force that are not there any more: each with the reason. */
export function describeFiles({ unused, left, survey }: Pick<RefreshReport, 'unused' | 'left' | 'survey'>): string[] {
  return [
    ...left.map(({ name, source, vintage }) => `in force, not in the data folders any more: ${name} (${source} ${vintage}); mappale forget takes it out of force`),
    ...unused.map(({ path, source, reason }) => `not used: ${path} (${source}): ${reason}`),
    ...survey.aside.map(({ path, source, reason }) => `left aside: ${path} (${source}): ${reason}`),
    ...describeUnknown(survey.unknown),
  ];
}

interface SourceSum {
  readonly source: string;
  readonly vintages: string;
  readonly records: number;
  readonly rows: number;
  readonly rejects: number;
  readonly duplicates: number;
  readonly seconds: number;
}

function bySource(loaded: RefreshReport['loaded']): SourceSum[] {
  return [...new Set(loaded.map(({ source }) => source))].map((source) => {
    const mine = loaded.filter((release) => release.source === source);
    const vintages = [...new Set(mine.map(({ vintage }) => vintage))].sort();
    const sum = (of: 'records' | 'rows' | 'rejects' | 'duplicates' | 'seconds'): number => mine.reduce((total, release) => total + release[of], 0);
    return {
      source, vintages: vintages.length === 1 ? vintages[0]! : `${vintages[0]!} … ${vintages.at(-1)!} (${vintages.length})`,
      records: sum('records'), rows: sum('rows'), rejects: sum('rejects'), duplicates: sum('duplicates'), seconds: sum('seconds'),
    };
  });
}

const WIDTH = 110;

/** A record, each section on one line, as far as it goes. */
function inShort(record: Record<string, unknown>): string {
  const { meta, ...sections } = record;
  const lines = Object.entries(sections).map(([name, value]) => {
    const line = `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`.replaceAll('":', '": ').replaceAll(',"', ', "');
    return line.length > WIDTH ? `${line.slice(0, WIDTH)} …` : line;
  });
  const { licenses } = meta as { licenses: readonly { readonly holder: string }[] };
  return `{\n${lines.join(',\n')}\n}\n${licenses.length} licences of ${new Set(licenses.map(({ holder }) => holder)).size} holders; each record carries them, and npx mappale sources lists them.`;
}
