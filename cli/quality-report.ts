/** Command that writes the quality report of a region or comune. */
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { municipalityQuality } from '../api/answers.ts';
import { expandPath } from '../pipelines/config.ts';
import type { Region } from '../pipelines/contract/regions.ts';
import type { Reader } from '../pipelines/db/reader.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { mustBePlace, writeAtomically } from '../pipelines/formats/atomic-write.ts';
import { readOutlines, readRegionReport, type RegionReport } from '../pipelines/operate/region-report.ts';
import { group } from '../pipelines/progress.ts';
import { vintageText } from '../pipelines/contract/vintage.ts';
import { command, look, parseRegion } from './command.ts';
import { comuneCode, onReader } from './comune.ts';
import { comunePage, regionPage, unusualCoverage, type Passport } from '../api/report/pages.ts';

interface Options {
  readonly comune?: string;
  readonly out?: string;
  readonly json?: boolean;
}

export function reportCommand(): Command {
  return command('report', [
    'mappale report molise', 'mappale report molise --out molise.html', 'mappale report molise --json',
    'mappale report --comune H501 --out roma.html', 'mappale report --comune Campobasso --json',
  ])
    .argument('[region]', 'name or ISTAT code', parseRegion)
    .option('--comune <comune>', 'write the report of this comune: cadastral code, ISTAT code or name')
    .option('--out <file>', 'output file; default: report-REGION.html or passport-CODE.html in the working folder')
    .option('--json', 'print as JSON; with --out, also write the page')
    .action(async (region: Region | undefined, options: Options) => {
      const { comune } = options;
      if ((region === undefined) === (comune === undefined)) {
        throw new MappaleError('report needs either a region or a comune', {
          code: 'REPORT_OF_WHAT', kind: 'usage', detail: `expected one of REGION and --comune, found ${region === undefined ? 'none' : 'both'}`,
          hint: 'To report on a comune, run: npx mappale report --comune H501', fix: 'npx mappale report REGION',
        });
      }
      // Checks the output path before the report is built. A default file name is checked only when the file is written.
      if (options.out !== undefined) await mustBePlace(expandPath(options.out));
      return look(options, async (context) => {
        if (region !== undefined) {
          const report = await readRegionReport(context, region);
          const file = await write(options, `report-${region.slug}.html`, async () => regionPage(report, await readOutlines(context, region)));
          return [report, () => [...describe(report), `written: ${file ?? ''}`].join('\n')];
        }
        const passport = await onReader(context, (reader) => readPassport(reader, comune ?? ''));
        const file = await write(options, `passport-${passport.municipality.code}.html`, async () => comunePage(passport));
        return [passport, () => [...describePassport(passport), `written: ${file ?? ''}`].join('\n')];
      });
    });
}

/** Writes a page atomically. @returns path of the page, or null if no page was requested */
async function write({ out, json }: Options, name: string, page: () => Promise<string>): Promise<string | null> {
  if (out === undefined && json === true) return null;
  const path = expandPath(out ?? name);
  await mustBePlace(path);
  await writeAtomically(path, async (unfinished) => writeFile(unfinished, await page()));
  return path;
}

/**
 * Returns the report on a comune in the format of the API.
 * @param comune cadastral code, ISTAT code or name
 * @throws MappaleError `COMUNE_UNKNOWN`, `COMUNE_AMBIGUOUS`, `NOT_PUBLISHED` (exit 2)
 */
export async function readPassport(reader: Reader, comune: string): Promise<Passport> {
  const code = await comuneCode(reader, comune, (suggested) => `npx mappale report --comune ${suggested}`);
  const { answer } = await reader.call<{ answer: string | null }>('select answer from api.municipality_quality($1)', [code]);
  if (answer === null) {
    throw new MappaleError(`no data is published for ${comune}`, { code: 'NOT_PUBLISHED', kind: 'usage', hint: 'Check which regions are published.', fix: 'npx mappale status' });
  }
  return municipalityQuality.parse(JSON.parse(answer));
}

function describe({ region, publications, releases, rejects, added_columns: added, cut_exports: cut, coverage, tables }: RegionReport): string[] {
  const now = publications.find(({ unit, state }) => unit === region.code && state === 'current');
  const wrong = releases.filter(({ holds }) => !holds);
  const unusual = new Map<string, number>();
  for (const { sections } of coverage) for (const said of unusualCoverage(sections)) unusual.set(said, (unusual.get(said) ?? 0) + 1);
  return [
    `${region.name}: publication ${now?.publication ?? ''}, published ${now?.published_at ?? ''}, ${group(tables.length)} tables built from ${group(releases.length)} releases`,
    wrong.length === 0
      ? 'records = rows + rejects + duplicates in every release'
      : `records DIFFER from rows + rejects + duplicates in ${wrong.map(({ source, vintage }) => `${source} ${vintageText(vintage)}`).join(', ')}`,
    `${group(rejects.reduce((sum, { records }) => sum + records, 0))} rejects, with ${group(rejects.length)} reasons`,
    ...added.map(({ code, file, columns }) => `${code} ${file}: ${columns.join(', ')}`),
    ...cut.map(({ code, file }) => `${code} ${file}`),
    ...[...unusual].map(([said, comuni]) => `${said} in ${group(comuni)} of ${group(coverage.length)} comuni`),
  ];
}

function describePassport({ municipality: { code, name }, coverage, files, rejects }: Passport): string[] {
  return [
    `${name ?? code} (${code}): ${group(files.length)} files cover the comune, ${group(rejects.reduce((sum, { records }) => sum + records, 0))} rejects`,
    ...unusualCoverage(coverage.sections),
  ];
}
