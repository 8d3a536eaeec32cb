/** Formats the results of a refresh, and parts of its plan, as text. */
import { basename } from 'node:path';
import { duration, group } from '../pipelines/progress.ts';
import { vintageText } from '../pipelines/contract/vintage.ts';
import type { LeftOut, NotedLeftOut } from '../pipelines/run/left-out.ts';
import { warningsByFile, type SchemaWarning } from '../pipelines/ledger/ledger.ts';
import type { RefreshReport } from '../pipelines/run/refresh.ts';
import { textTable } from '../pipelines/text-table.ts';
import { describeUnknown } from './command.ts';

/** Returns the report of a refresh as short text. */
export function describe(report: RefreshReport): string {
  const lines: string[] = [];
  if (report.runId === null && report.failures.length === 0) lines.push(`nothing to do: everything is up to date (${duration(report.seconds)})`);
  if (report.loaded.length > 0) {
    const sources = [...new Set(report.loaded.map(({ source }) => source))];
    lines.push(textTable(sources.map((source) => sumOf(source, report.loaded.filter((release) => release.source === source))),
      ['source', 'vintage', 'records', 'rows', 'rejects', 'duplicates', 'time']), '');
  }
  for (const region of report.units) {
    const counts = ([['core.parcel', 'parcels'], ['core.access_point', 'addresses'], ['core.comune', 'comuni']] as const)
      .flatMap(([relation, what]) => region.built.filter((each) => each.relation === relation).map(({ rows }) => `${group(rows)} ${what}`));
    lines.push(`${region.name}: published as ${region.publicationId}: ${[...counts, `${region.built.length} tables built`].join(', ')} (${duration(region.seconds)})`);
    if (region.missing.length > 0) lines.push(`  not loaded: ${region.missing.join(', ')}`);
    for (const note of region.notes) lines.push(`  ${note}`);
  }
  for (const held of report.held) lines.push(held);
  const warnings = report.loaded.reduce((sum, release) => sum + release.warnings, 0);
  if (warnings > 0) lines.push(`${warnings === 1 ? '1 check' : `${group(warnings)} checks`} of the loaded files found unexpected rows. For details, run: npx mappale report REGION`);
  if (report.loaded.length > 0 && report.vectorEngine !== null) lines.push(`vector files were read by ${report.vectorEngine}`);
  if (report.estimate !== null) lines.push(`took ${duration(report.seconds)}, estimated ${duration(report.estimate.seconds)}`);
  lines.push(...describeFiles(report), ...describeLeftOut(report.leftOut), ...describeWarnings(report.warnings));
  for (const failure of report.failures) lines.push(failure.report());
  return lines.join('\n');
}

/** Returns lines on current files that are missing from the data folders, on unused and skipped files with the reason, and on unrecognised files. */
export function describeFiles({ unused, left, survey }: Pick<RefreshReport, 'unused' | 'left' | 'survey'>): string[] {
  const broken = new Set(survey.broken.map(({ path }) => basename(path)));
  const isReplaced = ({ name, source }: (typeof left)[number]): boolean => (
    broken.has(name) || unused.some((each) => each.source === source && basename(each.path) === name)
  );
  return [
    ...left.map((each) => {
      const file = `${each.name} (${each.source} ${vintageText(each.vintage)})`;
      if (isReplaced(each)) return `still used: ${file} as loaded earlier, because the file that now has this name is not used`;
      return `still used, but missing from the data folders: ${file}. To stop using the file, run: npx mappale forget FILE`;
    }),
    ...unused.map(({ path, source, reason }) => `not used: ${path} (${source}): ${reason}`),
    ...survey.aside.map(({ path, source, reason }) => `skipped: ${path} (${source}): ${reason}`),
    ...describeUnknown(survey.unknown),
  ];
}

/** Maximum number of added columns that are listed by name. */
const MOST_NAMED = 20;

/** Returns one line per file: its added columns with sample values, or a warning that the file may be a truncated export. */
export function describeWarnings(warnings: readonly SchemaWarning[]): string[] {
  return warningsByFile(warnings).map(({ code, file, added }) => {
    if (code === 'EXPORT_MAY_BE_CUT') return `${code} ${file}: this export of a web service may be truncated. Request the rest, or load the publisher's complete file`;
    const columns = added.slice(0, MOST_NAMED).map(({ column, samples }) => `${column ?? ''} (${samples.length === 0 ? 'no values' : samples.map((sample) => JSON.stringify(sample)).join(', ')})`);
    const others = added.length - columns.length;
    return `${code} ${file}: ${columns.join(', ')}${others === 0 ? '' : ` and ${group(others)} more`}`;
  });
}

/** Returns lines on the files that could not be used, and on the affected sections of each region. */
export function describeLeftOut(all: readonly (LeftOut | NotedLeftOut)[]): string[] {
  const codeOf = ({ failure }: LeftOut | NotedLeftOut): string => ('error' in failure ? failure.error : failure.code);
  return all.flatMap((each) => [
    `left out: ${each.files.join(', ')} (${each.source}${each.vintage === null ? '' : ` ${vintageText(each.vintage)}`}): ${each.failure.message} [${codeOf(each)}]`,
    ...describeSections([each]),
  ]);
}

function describeSections(all: readonly (LeftOut | NotedLeftOut)[]): string[] {
  const named = [...new Map(all.flatMap(({ regions }) => regions.map(({ unit, name }) => [unit, name] as const)))];
  return named.flatMap(([region, name]) => {
    const touched = all.flatMap(({ source, regions }) => regions.filter((each) => each.unit === region).flatMap(({ sections }) => (
      sections.map((section) => ({ source, ...section }))
    )));
    const parts = [...new Set(touched.map(({ source, section, state, vintages }) => {
      if (state === 'not_loaded') return `${section} is not loaded`;
      return state === 'kept' ? `${section} uses ${source} ${vintages.map(vintageText).join(', ')}` : `${section} is without ${source}`;
    }))];
    return parts.length === 0 ? [] : [`  ${name}: ${parts.join('; ')}`];
  });
}

/** Returns the table row of one source, with the totals of its releases. */
function sumOf(source: string, loaded: RefreshReport['loaded']): (string | number)[] {
  const vintages = [...new Set(loaded.map(({ vintage }) => vintage))].sort().map(vintageText);
  const [first = ''] = vintages;
  const sum = (of: 'records' | 'rows' | 'rejects' | 'duplicates' | 'seconds'): number => loaded.reduce((total, release) => total + release[of], 0);
  return [
    source, vintages.length === 1 ? first : `${first} … ${vintages.at(-1) ?? ''} (${vintages.length})`,
    sum('records'), sum('rows'), sum('rejects'), sum('duplicates'), duration(sum('seconds')),
  ];
}
