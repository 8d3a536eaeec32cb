import type { Command } from 'commander';
import { expandPath } from '../config.ts';
import { withContext } from '../context.ts';
import { EXIT } from '../errors.ts';
import { duration } from '../progress.ts';
import { gib, price, type Price } from '../steps/price.ts';
import { plan, unitName, type Plan } from '../steps/refresh.ts';
import { collectPaths, command, parseRegion, print } from './command.ts';
import { describeFiles } from './load-region.ts';

export function planCommand(): Command {
  return command('plan', 'What a refresh would do, and why; writes nothing.', ['mappale plan --data ~/downloads', 'mappale plan molise --data ~/downloads --json'])
    .argument('[region]', 'name or ISTAT code; none: every region in the data or published')
    .option('--data <folder>', 'folder with downloaded files; may be given more than once', collectPaths)
    .option('--json', 'print as JSON')
    .action(async (region: string | undefined, options: { data?: string[]; json?: boolean }) => {
      await withContext({ access: 'read' }, async (context) => {
        const found = await plan(context, {
          command: 'plan', data: (options.data ?? ['data']).map(expandPath), regions: region === undefined ? null : [parseRegion(region).code], parallel: 1, accept: null, force: false,
        });
        const cost = await price(context.database, found);
        print(options.json, { ...toJson(found), price: cost }, () => `${describe(found)}\n${describePrice(cost)}`);
        if (found.survey.broken.length > 0) process.exitCode = EXIT.input;
      });
    });
}

function toJson(found: Plan): Record<string, unknown> {
  return {
    load: found.toLoad.map(({ located, why }) => ({ source: located.source.id, vintage: located.vintage, region: located.region, files: located.files.map(({ path }) => path), why })),
    build: found.units,
    unused: found.unused,
    left: found.left,
    held: found.held,
    aside: found.survey.aside,
    unknown: found.survey.unknown,
    broken: found.survey.broken,
  };
}

function describe(found: Plan): string {
  const lines: string[] = [];
  for (const { located, why } of found.toLoad) {
    lines.push(`load  ${located.source.id} ${located.vintage}${located.region === null ? '' : ` ${unitName(located.region)}`} (${located.files.length} file${located.files.length === 1 ? '' : 's'}): ${why}`);
  }
  for (const { unit, stale, missing } of found.units) {
    for (const { relation, why } of stale) lines.push(`build ${unitName(unit)} ${relation}: ${why}`);
    if (missing.length > 0) lines.push(`      ${unitName(unit)}: nothing loaded for ${missing.join(', ')}`);
  }
  if (lines.every((line) => !/^(load|build)/.test(line))) lines.unshift('nothing to do: everything is up to date');
  for (const held of found.held) lines.push(held);
  for (const { path, error } of found.survey.broken) lines.push(`broken ${path}: ${error.message} [${error.code}]`);
  lines.push(...describeFiles(found));
  return lines.join('\n');
}

function describePrice(cost: Price): string {
  const room = cost.freeBytes === null ? 'the disk of the server cannot be seen from here' : `${gib(cost.freeBytes)} free`;
  return `estimate: ${duration(cost.seconds)}, ${gib(cost.diskBytes)} of disk (${room}), ${gib(cost.memoryBytes)} of memory; ${Math.round(cost.measured * 100)} % of it from runs on this database`;
}
