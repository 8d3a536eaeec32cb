import { Option, type Command } from 'commander';
import { expandPath } from '../pipelines/config.ts';
import { findRegion, type Region } from '../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { parseSections } from '../pipelines/deliver/columns.ts';
import { areaName, boxArea, polygonArea, type Area } from '../pipelines/deliver/area.ts';
import { exportRegion, type Exported, type Format } from '../pipelines/deliver/export.ts';
import { FORMATS, GEOPARQUET } from '../pipelines/deliver/formats.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { mustBePlace } from '../pipelines/formats/atomic-write.ts';
import { mustBePublished } from '../pipelines/ledger/published.ts';
import { group } from '../pipelines/progress.ts';
import { VERSION } from '../pipelines/program.ts';
import { withContext, type Context } from '../pipelines/run/context.ts';
import { command, parseRegion, print } from './command.ts';
import { comunePlace } from './comune.ts';
import { formatNamed } from './format-name.ts';
import { retyped, withOption } from '../pipelines/typed.ts';

interface Options {
  readonly format: string;
  readonly comune?: string;
  readonly bbox?: string;
  readonly polygon?: string;
  readonly out?: string;
  readonly sections?: string;
  readonly verbatim?: boolean;
  readonly geoparquet?: '1' | '2';
  readonly json?: boolean;
}

export function exportCommand(): Command {
  const names = Object.keys(FORMATS);
  return command('export', [
    'mappale export molise',
    'mappale export molise --comune Campobasso --format geopackage',
    `mappale export molise --format csv --sections ${SECTION_NAMES.slice(0, 2).join(',')} --out /tmp/molise.csv`,
  ])
    .argument('<region>', 'name or ISTAT code', parseRegion)
    .addOption(new Option('--format <format>', 'format of the file').choices(names).argParser(String).default(names[0]))
    .option('--comune <comune>', 'only parcels of this comune: cadastral code, ISTAT code or name')
    .option('--bbox <box>', 'only parcels whose representative point is in a box: west,south,east,north in degrees')
    .option('--polygon <file>', 'only parcels whose representative point is in the polygons of a GeoJSON file')
    .option('--sections <sections>', 'comma-separated names; default: all')
    .option('--out <file>', 'output file; default: named after the region and the area, in the working folder')
    .option('--verbatim', 'CSV: keep text that a spreadsheet would evaluate as a formula; by default such text begins with an apostrophe')
    .addOption(new Option('--geoparquet <version>', 'version of GeoParquet: 1 (1.1, geometries as bytes; default) or 2 (2.0, geometries in the type GEOMETRY of Parquet)').choices(['1', '2']))
    .option('--json', 'print the summary as JSON')
    .action(async (region: Region, options: Options) => {
      const { verbatim = false, json } = options;
      const sections = parseSections(options.sections ?? 'all');
      const format = chosenFormat(options);
      if (options.out !== undefined) await mustBePlace(expandPath(options.out));
      await withContext({ access: 'read' }, async (context) => {
        const { database, log } = context;
        await mustBePublished(database, region);
        const area = await areaOf(context, region, options);
        const out = expandPath(options.out ?? `${[region.slug, areaName(area)].filter((part) => part !== '').join('-')}.${format.ending}`);
        await mustBePlace(out);
        const work = { region, area, sections, format, out, createdBy: `mappale ${VERSION}`, verbatim };
        const exported = await exportRegion(database, log, work);
        print(json, exported, () => describe(exported));
      });
    });
}

/** @throws MappaleError `FORMAT_UNKNOWN`, `GEOPARQUET_ONLY` (exit 2) */
function chosenFormat({ format: name, geoparquet: version }: Options): Format {
  const format = formatNamed(name, FORMATS, 'npx mappale export REGION');
  if (version === undefined) return format;
  if (format !== FORMATS['geoparquet']) {
    throw new MappaleError('--geoparquet is only for GeoParquet', {
      code: 'GEOPARQUET_ONLY', kind: 'usage', detail: `expected --format geoparquet, found ${name}`, hint: 'Leave --geoparquet out.',
      fix: retyped(withOption('--format', 'geoparquet'), 'npx mappale export REGION --geoparquet 2'),
    });
  }
  return GEOPARQUET[version];
}

/**
 * Returns the part of the region that the options select.
 * @throws MappaleError `AREAS_SEVERAL`, `COMUNE_ELSEWHERE`, `COMUNE_UNKNOWN`, `COMUNE_AMBIGUOUS`, `BBOX_INVALID`, `POLYGON_UNREADABLE`,
 * `POLYGON_INVALID` (exit 2)
 */
async function areaOf(context: Context, region: Region, { comune, bbox, polygon }: Options): Promise<Area> {
  const given = Object.entries({ '--comune': comune, '--bbox': bbox, '--polygon': polygon }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length > 1) {
    throw new MappaleError('an export can have only one area', {
      code: 'AREAS_SEVERAL', kind: 'usage', detail: `expected one of --comune, --bbox and --polygon, found ${given.join(' and ')}`,
      hint: 'Run one export for each area.', fix: `npx mappale export ${region.slug} --comune CODE`,
    });
  }
  if (bbox !== undefined) return boxArea(bbox);
  if (polygon !== undefined) return polygonArea(context.database, expandPath(polygon));
  if (comune === undefined) return { kind: 'region' };
  const fixWith = (code: string): string => `npx mappale export ${region.slug} --comune ${code}`;
  const place = await comunePlace(context, comune, fixWith);
  if (place.region !== region.code) {
    const other = findRegion(place.region);
    throw new MappaleError(`${comune} is not in ${region.name}`, {
      code: 'COMUNE_ELSEWHERE', kind: 'usage', detail: `expected a comune of ${region.name}, found one of ${other?.name ?? String(place.region)}`, hint: 'Give the region that contains the comune.',
      fix: `npx mappale export ${other?.slug ?? 'REGION'} --comune ${place.belfiore}`,
    });
  }
  return { kind: 'comune', belfiore: place.belfiore };
}

function describe({ out, companions, parcels, columns, bytes, published_at: publishedAt, digest, note, seconds }: Exported): string {
  return [
    `${out}: ${group(parcels)} parcels, ${columns} columns, ${group(bytes)} bytes, in ${seconds} s`,
    `  from the publication of ${publishedAt}, ${digest}`, ...(note === null ? [] : [`  ${note}`]), ...companions.map((path) => `  also written: ${path}`),
  ].join('\n');
}
