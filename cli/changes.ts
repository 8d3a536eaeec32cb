import { Option, type Command } from 'commander';
import { expandPath } from '../pipelines/config.ts';
import type { Region } from '../pipelines/contract/regions.ts';
import { CHANGE_FORMATS, writeChanges, type Changes } from '../pipelines/deliver/change-files.ts';
import type { ChangesFrom } from '../pipelines/deliver/changes.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { mustBePlace } from '../pipelines/formats/atomic-write.ts';
import { VERSION } from '../pipelines/program.ts';
import { group } from '../pipelines/progress.ts';
import { withContext } from '../pipelines/run/context.ts';
import { isDay } from '../pipelines/readers/iso-date.ts';
import { retyped, withOption } from '../pipelines/typed.ts';
import { command, parseRegion, print } from './command.ts';
import { formatNamed } from './format-name.ts';

const FORMATS = Object.fromEntries(CHANGE_FORMATS.map((name) => [name, name]));

interface Options {
  readonly since: ChangesFrom;
  readonly format: string;
  readonly out?: string;
  readonly verbatim?: boolean;
  readonly json?: boolean;
}

export function changesCommand(): Command {
  return command('changes', [
    'mappale changes molise --since 2026-01-31', 'mappale changes molise --since 41 --format parquet --out /tmp/changes.parquet',
  ])
    .argument('<region>', 'name or ISTAT code', parseRegion)
    .requiredOption('--since <since>', 'first day (YYYY-MM-DD), or number of the last publication that you know', parseSince)
    .addOption(new Option('--format <format>', 'format of the file').choices(CHANGE_FORMATS).argParser(String).default(CHANGE_FORMATS[0]))
    .option('--out <file>', 'output file; default: named after the region, in the working folder')
    .option('--verbatim', 'CSV: keep text that a spreadsheet would evaluate as a formula; by default such text begins with an apostrophe')
    .option('--json', 'print the summary as JSON')
    .action(async (region: Region, { since, format: named, out: given, verbatim = false, json }: Options) => {
      const format = formatNamed(named, FORMATS, 'npx mappale changes REGION --since 2026-01-31');
      const out = expandPath(given ?? `${region.slug}-changes.${format}`);
      await mustBePlace(out);
      await withContext({ access: 'read' }, async ({ database }) => {
        const changes = await writeChanges(database, { region, from: since, format, out, createdBy: `mappale ${VERSION}`, verbatim });
        print(json, changes, () => describe(region, changes));
      });
    });
}

/** @throws MappaleError `SINCE_INVALID` (exit 2) */
function parseSince(text: string): ChangesFrom {
  if (/^\d{1,9}$/.test(text)) return { publication: Number(text), fid: null };
  if (isDay(text)) return { day: text };
  throw new MappaleError('--since is not valid', {
    code: 'SINCE_INVALID', kind: 'usage', detail: `expected a day, YYYY-MM-DD, or the number of a publication, found ${text}`, hint: 'Give the day of your last export.',
    fix: retyped(withOption('--since', '2026-01-31'), 'npx mappale changes REGION --since 2026-01-31'),
  });
}

function describe({ slug }: Region, { out, licenses, publications, added, removed, changed, publication, bytes }: Changes): string {
  return [
    `${out}: ${group(added)} parcels added, ${group(removed)} removed, ${group(changed)} changed; ${group(bytes)} bytes`,
    `  includes changes up to publication ${publication}. To get later changes, run: npx mappale changes ${slug} --since ${publication}`,
    `  also written: ${licenses}, ${publications}`,
  ].join('\n');
}
