import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { Option, type Command } from 'commander';
import { expandPath } from '../pipelines/config.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { parseSections } from '../pipelines/deliver/columns.ts';
import { enrichFile, type EnrichedFile } from '../pipelines/deliver/enrich-file.ts';
import { KEYS, KEY_HELP, type Key } from '../pipelines/deliver/keys.ts';
import { STATUSES, type Status } from '../pipelines/deliver/places.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { mustBePlace } from '../pipelines/formats/atomic-write.ts';
import { group } from '../pipelines/progress.ts';
import { withContext } from '../pipelines/run/context.ts';
import { textTable } from '../pipelines/text-table.ts';
import { command, print } from './command.ts';
import { nearest, retyped, withOption } from '../pipelines/typed.ts';

interface Options {
  readonly out: string;
  readonly sections?: string;
  readonly by?: Key;
  readonly safe?: boolean;
  readonly verbatim?: boolean;
  readonly json?: boolean;
}

export function enrichCommand(): Command {
  return command('enrich', [
    `mappale enrich points.csv --out points-enriched.csv --sections ${SECTION_NAMES.slice(0, 2).join(',')}`,
    'mappale enrich owners.csv --out owners-enriched.csv --sections all --by parcel',
  ])
    .argument('<table>', `CSV file with a header, any delimiter, and the columns of at least one of these keys: ${KEY_HELP}`)
    .requiredOption('--out <file>', 'output file, which begins with the unchanged columns of the table')
    .option('--sections <sections>', 'comma-separated names, or all; default: the sections that are used most')
    .addOption(new Option('--by <key>', 'key to use if the table has the columns of several keys').choices(KEYS).argParser(parseKey))
    .option('--safe', 'put an apostrophe before text that a spreadsheet would evaluate as a formula, including text in the columns of the table')
    .option('--verbatim', 'add no apostrophes; by default, text in added columns that a spreadsheet would evaluate as a formula gets an apostrophe')
    .option('--json', 'print the summary as JSON')
    .action(async (table: string, options: Options) => {
      const sections = parseSections(options.sections);
      const [from, out] = [expandPath(table), expandPath(options.out)];
      await mustBeTable(from, out);
      await withContext({ access: 'read' }, async ({ database, log }) => {
        const summary = await enrichFile(database, log, { from, out, sections, by: options.by ?? null, guard: options.safe === true ? 'all' : options.verbatim === true ? 'none' : 'added' });
        print(options.json, summary, () => describe(summary));
      });
    });
}

/** @throws MappaleError `KEY_UNKNOWN` (exit 2) */
function parseKey(text: string): Key {
  const key = KEYS.find((each) => each === text);
  if (key !== undefined) return key;
  const [meant = KEYS[0]] = nearest(text, KEYS);
  throw new MappaleError(`there is no key ${text}`, {
    code: 'KEY_UNKNOWN', kind: 'usage', detail: `expected ${KEYS.join(', ')}`, hint: 'Omit --by to detect the key from the header.',
    fix: retyped(withOption('--by', meant), `npx mappale enrich FILE.csv --by ${meant} --out OTHER.csv`),
  });
}

/** @throws MappaleError `TABLE_MISSING`, `FOLDER_MISSING`, `TABLE_OVERWRITTEN` (exit 2) */
async function mustBeTable(from: string, out: string): Promise<void> {
  const there = await stat(from).catch(() => null);
  if (basename(from) === '-' || there?.isFile() === false) {
    throw new MappaleError('the table is not a file', {
      code: 'TABLE_MISSING', kind: 'usage', at: from, detail: `expected a CSV file, found ${there?.isDirectory() === true ? 'a folder' : 'standard input, a pipe or a device'}`,
      hint: 'Save the input to a file first, because enrich may have to read the input again.', fix: 'npx mappale enrich FILE.csv --out OTHER.csv',
    });
  }
  if (there === null) {
    throw new MappaleError('the table does not exist', { code: 'TABLE_MISSING', kind: 'usage', at: from, hint: 'Name a CSV file with a header.', fix: 'npx mappale enrich FILE.csv --out OTHER.csv' });
  }
  if (await realpath(from) === await realpath(out).catch(() => out)) throw new MappaleError('the output would overwrite the table', { code: 'TABLE_OVERWRITTEN', kind: 'usage', at: out, hint: 'Name another file with --out.', fix: retyped(withOption('--out', 'OTHER.csv'), 'npx mappale enrich FILE.csv --out OTHER.csv') });
  await mustBePlace(out);
}

function describe({ out, metadata, rows, statuses, seconds, columns_added: added, attributions }: EnrichedFile): string {
  const counts = (Object.entries(STATUSES) as [Status, string][])
    .flatMap(([status, meaning]) => (statuses[status] === undefined ? [] : [[status, statuses[status], meaning]]));
  return [
    `${out}: ${group(rows)} rows, ${added.length} columns added, in ${seconds} s (${group(Math.round(rows / Math.max(seconds, 0.01)))} rows/s)`,
    textTable(counts, ['status', 'rows', 'means']),
    `column descriptions and licences: ${metadata}`,
    'show these attributions with the data:', ...attributions.map((attribution) => `  ${attribution}`),
  ].join('\n');
}
