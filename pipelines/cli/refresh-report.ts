/** What a refresh did, or would do, in words. */
import { duration, group } from '../progress.ts';
import type { RefreshReport } from '../run/refresh.ts';
import { textTable } from '../text-table.ts';
import { describeUnknown } from './command.ts';

/** The report of a refresh as a person reads it, on one screen. */
export function describe(report: RefreshReport): string {
  const lines: string[] = [];
  if (report.runId === null && report.failures.length === 0) lines.push(`nothing to do: everything is up to date (${duration(report.seconds)})`);
  if (report.loaded.length > 0) {
    const sources = [...new Set(report.loaded.map(({ source }) => source))];
    lines.push(textTable(sources.map((source) => sumOf(source, report.loaded.filter((release) => release.source === source))),
      ['source', 'vintage', 'records', 'rows', 'rejects', 'duplicates', 'time']), '');
  }
  for (const unit of report.units) {
    const counts = ([['core.parcel', 'parcels'], ['core.access_point', 'addresses'], ['core.comune', 'comuni']] as const)
      .flatMap(([relation, what]) => unit.built.filter((each) => each.relation === relation).map(({ rows }) => `${group(rows)} ${what}`));
    lines.push(`${unit.name}: published as ${unit.publicationId}: ${[...counts, `${unit.built.length} tables made`].join(', ')} (${duration(unit.seconds)})`);
    if (unit.missing.length > 0) lines.push(`  not loaded, so not mapped: ${unit.missing.join(', ')}`);
    for (const note of unit.notes) lines.push(`  ${note}`);
  }
  for (const held of report.held) lines.push(held);
  if (report.estimate !== null) lines.push(`took ${duration(report.seconds)}, estimated ${duration(report.estimate.seconds)}`);
  lines.push(...describeFiles(report));
  for (const failure of report.failures) lines.push(failure.report());
  return lines.join('\n');
}

/** Files of a refresh that nothing is made from, and those in force that are not there any more: each with the reason. */
export function describeFiles({ unused, left, survey }: Pick<RefreshReport, 'unused' | 'left' | 'survey'>): string[] {
  return [
    ...left.map(({ name, source, vintage }) => `in force, not in the data folders any more: ${name} (${source} ${vintage}); npx mappale forget FILE takes it out of force`),
    ...unused.map(({ path, source, reason }) => `not used: ${path} (${source}): ${reason}`),
    ...survey.aside.map(({ path, source, reason }) => `left aside: ${path} (${source}): ${reason}`),
    ...describeUnknown(survey.unknown),
  ];
}

/** A source's releases as a line of the table. */
function sumOf(source: string, loaded: RefreshReport['loaded']): (string | number)[] {
  const vintages = [...new Set(loaded.map(({ vintage }) => vintage))].sort();
  const [first = ''] = vintages;
  const sum = (of: 'records' | 'rows' | 'rejects' | 'duplicates' | 'seconds'): number => loaded.reduce((total, release) => total + release[of], 0);
  return [
    source, vintages.length === 1 ? first : `${first} … ${vintages.at(-1) ?? ''} (${vintages.length})`,
    sum('records'), sum('rows'), sum('rejects'), sum('duplicates'), duration(sum('seconds')),
  ];
}
