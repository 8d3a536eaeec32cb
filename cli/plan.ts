import type { Command } from 'commander';
import { EXIT } from '../pipelines/errors.ts';
import { duration } from '../pipelines/progress.ts';
import { regionName, type Region } from '../pipelines/contract/regions.ts';
import { vintageText } from '../pipelines/contract/vintage.ts';
import { gib, type Price } from '../pipelines/plan/price.ts';
import { MOST_CHANGED, staleTables, type StaleTable, type Way } from '../pipelines/plan/ways.ts';
import { preview, type Preview } from '../pipelines/run/refresh.ts';
import { collectPaths, command, look, parseRegion } from './command.ts';
import { foldersOf } from './refresh.ts';
import { describeFiles } from './refresh-report.ts';

export function planCommand(): Command {
  return command('plan', ['mappale plan --data ~/downloads', 'mappale plan molise --data ~/downloads --json'])
    .argument('[region]', 'name or ISTAT code; default: every region that has data or is published', parseRegion)
    .option('--data <folder>', 'folder with downloaded files; repeatable', collectPaths)
    .option('--json', 'print as JSON')
    .action((region: Region | undefined, options: { data?: string[]; json?: boolean }) => look(options, async (context) => {
      const found = await preview(context, { data: foldersOf(options), regions: region === undefined ? null : [region.code] });
      if (found.survey.broken.length > 0) process.exitCode = EXIT.input;
      return [toJson(found), () => `${describe(found)}\n${describePrice(found.price)}`];
    }));
}

/**
 * Texts of the plan for each way to update a table. `word` begins the line of a table. `meaning` is printed below all lines; null if no explanation is needed.
 */
const WAYS: Readonly<Record<Way, { readonly word: string; readonly meaning: string | null }>> = {
  whole: { word: 'build', meaning: null },
  patch: { word: 'patch', meaning: `replaces only changed rows, or builds the complete table if more than ${Math.round(MOST_CHANGED * 100)} % of the parcels changed` },
  compare: { word: 'check', meaning: 'keeps the published table if its inputs have the same rows' },
};

function toJson({ plan, survey, price, distributed }: Preview): Record<string, unknown> {
  return {
    load: plan.loads.map(({ located, why }) => {
      const { source, vintage, region, files } = located;
      return { source: source.id, vintage: vintageText(vintage), region, files: files.map(({ path }) => path), why };
    }),
    build: plan.builds.map((job) => ({ unit: job.region, stale: staleTables(job, { distributed }), missing: job.missing })),
    unused: plan.unused,
    left: plan.left,
    held: plan.held,
    aside: survey.aside,
    unknown: survey.unknown,
    broken: survey.broken,
    price,
  };
}

function describeTable(region: number, { relation, why, way, whole }: StaleTable): string {
  const reason = whole === null || whole === why ? '' : ` (whole: ${whole})`;
  return `${WAYS[way].word} ${regionName(region)} ${relation}: ${why}${reason}`;
}

function describe({ plan, survey, distributed }: Preview): string {
  const lines: string[] = [];
  for (const { located: { source, vintage, region, files }, why } of plan.loads) {
    lines.push(`load  ${source.id} ${vintageText(vintage)}${region === null ? '' : ` ${regionName(region)}`} (${files.length} file${files.length === 1 ? '' : 's'}): ${why}`);
  }
  const ways = new Set<Way>();
  for (const job of plan.builds) {
    const { region, missing } = job;
    for (const table of staleTables(job, { distributed })) {
      ways.add(table.way);
      lines.push(describeTable(region, table));
    }
    if (missing.length > 0) lines.push(`      ${regionName(region)}: no data loaded for ${missing.join(', ')}`);
  }
  for (const way of ways) if (WAYS[way].meaning !== null) lines.push(`      ${WAYS[way].word}: ${WAYS[way].meaning}`);
  if (plan.loads.length === 0 && ways.size === 0) lines.unshift('nothing to do: everything is up to date');
  for (const held of plan.held) lines.push(held);
  for (const { path, error } of survey.broken) lines.push(`broken ${path}: ${error.message} [${error.code}]`);
  lines.push(...describeFiles({ ...plan, survey }));
  return lines.join('\n');
}

function describePrice(cost: Price): string {
  const room = cost.freeBytes === null ? 'the free disk space of the server is unknown' : `${gib(cost.freeBytes)} free`;
  return `estimate: ${duration(cost.seconds)}, ${gib(cost.diskBytes)} of disk (${room}), ${gib(cost.memoryBytes)} of memory; ${Math.round(cost.measured * 100)} % of the estimate is from runs on this database`;
}
