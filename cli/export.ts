import { Option, type Command } from 'commander';
import { expandPath } from '../pipelines/config.ts';
import type { Region } from '../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { parseSections } from '../pipelines/deliver/columns.ts';
import { exportRegion, type Exported } from '../pipelines/deliver/export.ts';
import { FORMATS } from '../pipelines/deliver/formats.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { mustBePlace } from '../pipelines/formats/atomic-write.ts';
import { mustBePublished } from '../pipelines/ledger/published.ts';
import { group } from '../pipelines/progress.ts';
import { VERSION } from '../pipelines/program.ts';
import { withContext } from '../pipelines/run/context.ts';
import { command, parseRegion, print } from './command.ts';
import { nearest, retyped, withOption } from '../pipelines/typed.ts';

interface Options {
  readonly format: string;
  readonly out?: string;
  readonly sections?: string;
  readonly verbatim?: boolean;
  readonly json?: boolean;
}

export function exportCommand(): Command {
  const names = Object.keys(FORMATS);
  return command('export', [
    'mappale export molise',
    `mappale export molise --format csv --sections ${SECTION_NAMES.slice(0, 2).join(',')} --out /tmp/molise.csv`,
  ])
    .argument('<region>', 'name or ISTAT code', parseRegion)
    .addOption(new Option('--format <format>', 'format of the file').choices(names).argParser(String).default(names[0]))
    .option('--sections <sections>', 'comma-separated names; default: all')
    .option('--out <file>', 'output file; default: named after the region, in the working folder')
    .option('--verbatim', 'CSV: keep text that a spreadsheet would run as a formula; the default is to put an apostrophe before it')
    .option('--json', 'print the summary as JSON')
    .action(async (region: Region, { format: name, out: path, sections, verbatim = false, json }: Options) => {
      const format = FORMATS[name];
      if (format === undefined) {
        const [meant = names[0] ?? ''] = nearest(name, names);
        throw new MappaleError('there is no such format', {
          code: 'FORMAT_UNKNOWN', kind: 'usage', detail: `expected ${names.join(', ')}, found ${name}`, hint: `Leave --format out for ${names[0] ?? ''}.`,
          fix: retyped(withOption('--format', meant), `npx mappale export REGION --format ${meant}`),
        });
      }
      const out = expandPath(path ?? `${region.slug}.${format.ending}`);
      await mustBePlace(out);
      const work = { region, sections: parseSections(sections ?? 'all'), format, out, createdBy: `mappale ${VERSION}`, verbatim };
      await withContext({ access: 'read' }, async ({ database, log }) => {
        await mustBePublished(database, region);
        const exported = await exportRegion(database, log, work);
        print(json, exported, () => describe(exported));
      });
    });
}

function describe({ out, companions, parcels, columns, bytes, published_at: publishedAt, digest, note, seconds }: Exported): string {
  return [
    `${out}: ${group(parcels)} parcels, ${columns} columns, ${group(bytes)} bytes, in ${seconds} s`,
    `  of the publication of ${publishedAt}, ${digest}`, ...(note === null ? [] : [`  ${note}`]), ...companions.map((path) => `  also written: ${path}`),
  ].join('\n');
}
