import type { Command } from 'commander';
import { expandPath, readConfig, readProxies, sourceSettings } from '../pipelines/config.ts';
import { loadSources } from '../pipelines/contract/registry.ts';
import { firstExitCode, MappaleError } from '../pipelines/errors.ts';
import { fetchRegions, type FetchReport, type SourceReport } from '../pipelines/fetch/fetch.ts';
import { makeLog } from '../pipelines/log.ts';
import { byteText, duration, group } from '../pipelines/progress.ts';
import { textTable } from '../pipelines/text-table.ts';
import { quoted } from '../pipelines/typed.ts';
import { command, parseRegion, print } from './command.ts';

interface Options {
  readonly sources?: string[];
  readonly data: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function fetchCommand(): Command {
  return command('fetch', [
    'mappale fetch molise',
    'mappale fetch molise --dry-run',
    'mappale fetch molise puglia --sources SOURCE,SOURCE --data /srv/downloads',
  ])
    .argument('<regions...>', 'names or ISTAT codes')
    .option('--sources <sources>', 'only these sources, separated by commas; repeatable (npx mappale sources lists the names)', splitIds)
    .option('--data <folder>', 'data folder, with one folder for each source', 'data')
    .option('--dry-run', 'list files, sizes and licences without downloading')
    .option('--json', 'print the report as JSON')
    .action(async (regions: string[], options: Options) => {
      const config = readConfig();
      const chosen = regions.map(parseRegion);
      const log = makeLog(config, process.stderr);
      const report = await fetchRegions(
        { sources: await loadSources(), settings: sourceSettings, log, proxies: readProxies() },
        { regions: chosen, folder: expandPath(options.data), only: options.sources ?? null, dryRun: options.dryRun === true },
      );
      print(options.json, report, () => describe(report, chosen.map(({ slug }) => slug), options));
      process.exitCode = firstExitCode(report.failures.map(({ exitCode }) => exitCode));
    });
}

/** @throws MappaleError `SOURCE_MISSING` (exit 2) */
function splitIds(text: string, before: readonly string[] = []): string[] {
  const ids = text.split(',').map((id) => id.trim().toLowerCase()).filter((id) => id !== '');
  if (ids.length > 0) return [...before, ...ids];
  throw new MappaleError('--sources is empty', { code: 'SOURCE_MISSING', kind: 'usage', hint: 'Name at least one source, or omit --sources to get all sources.', fix: 'npx mappale sources' });
}

/** Returns text with a line for each source, followed by the failures, the manual downloads and the next command. */
function describe(report: FetchReport, regions: readonly string[], { data, sources }: Pick<Options, 'data' | 'sources'>): string {
  const asked = report.sources.filter(({ files }) => files.length > 0);
  const lines = asked.length === 0 ? [] : [textTable(asked.map((each) => [each.source, each.license, ...lineOf(each)]), ['source', 'licence', 'size', report.dryRun ? 'would be' : 'outcome'])];
  if (report.dryRun) {
    const wanted = asked.flatMap(({ files }) => files.filter(({ outcome }) => outcome === 'wanted'));
    const unsaid = wanted.filter(({ bytes }) => bytes === null).length;
    lines.push('', `to download: ${filesText(wanted.length)}, ${byteText(sum(wanted))}${unsaid === 0 ? '' : ` and ${unsaid} of unknown size`}`);
  } else {
    const received = asked.flatMap(({ files }) => files).reduce((total, file) => total + file.received, 0);
    lines.push('', `${received === 0 ? 'no file was downloaded' : `${byteText(received)} downloaded`} (${duration(report.seconds)})`);
  }
  for (const { source, left } of report.sources) if (left !== null) lines.push(`${source}: ${left}`);
  for (const failure of report.failures) lines.push(failure.report());
  const hands = report.sources.flatMap(({ source, license, byHand }) => (byHand === null ? [] : [{ source, license, ...byHand }]));
  if (hands.length > 0) lines.push('', 'Download these files manually, because they need an account or have no fixed address. A section without any files has the coverage "not_loaded".');
  for (const { source, license, how, folder, there } of hands) {
    lines.push(`  ${source} (${license})${there === 0 ? '' : `, ${filesText(there)} already there`}`, `    ${how}.`, `    Save to: ${folder}`);
  }
  // If every file failed, no next command is printed, because the errors explain what to do.
  if (report.failures.length > 0 && asked.every(({ files }) => files.every(({ error }) => error !== null))) return lines.join('\n');
  const [region = ''] = regions;
  const named = sources === undefined ? '' : ` --sources ${sources.join(',')}`;
  const next = report.dryRun ? `mappale fetch ${regions.join(' ')}${named} --data ${quoted(data)}` : regions.length === 1 ? `mappale load-region ${region} --data ${quoted(data)}` : `mappale refresh ${regions.join(' ')} --data ${quoted(data)}`;
  return [...lines, '', 'Next:', `  npx ${next}`].join('\n');
}

function filesText(count: number): string {
  return `${group(count)} ${count === 1 ? 'file' : 'files'}`;
}

function sum(files: readonly { readonly bytes: number | null }[]): number {
  return files.reduce((total, { bytes }) => total + (bytes ?? 0), 0);
}

const WORDS = { new: 'downloaded', changed: 'downloaded, changed', wanted: 'downloaded', unchanged: 'unchanged', none: 'not available from the publisher', failed: 'failed' } as const;

/** Returns the total size of a source's files and, for each outcome, the name of the only file or the number of files. */
function lineOf({ files }: SourceReport): [size: string, outcome: string] {
  const outcomes = [...new Set(files.map(({ outcome }) => outcome))].map((outcome) => {
    const same = files.filter((each) => each.outcome === outcome);
    return `${WORDS[outcome]}: ${same.length === 1 ? same[0]?.name ?? '' : filesText(same.length)}`;
  });
  return [byteText(sum(files)), outcomes.join('; ')];
}
