import { defineSource, inputError, type Probe, type Recognition } from '../../pipelines/contract/source.ts';
import { layers } from './layers.ts';
import { manifest } from './manifest.ts';
import { columnNames, csvEntry, headerOf, read, type Header } from './read.ts';
import { FIELDS } from './schema.ts';

/** Name `EGMS_L3_E46N19_100km_U_2020_2024_2.zip`: tile, component, years, issue. The name of the baseline has neither years nor issue. */
const NAME = /EGMS_L3_(E\d{2}N\d{2})_100km_([A-Z])(?:_(\d{4}_\d{4})(?:_(\d+))?)?(?=[._-]|$)/i;
const BASELINE = '2015_2021';
/** Component in the name of a renamed file. */
const COMPONENT = /_([ENU])(?=[_.-]|$)/;
/** Component that is read. All other components are horizontal. */
const VERTICAL = 'U';
/** Names of other files in the same zip, which some users unpack into the same folder. */
const COMPANION = /\.(?:tiff?|xml)$/i;

async function recognise(probe: Probe): Promise<Recognition | null> {
  const named = NAME.exec(probe.name);
  if (named !== null && COMPANION.test(probe.name)) {
    return { role: 'companion', vintage: named[3] ?? BASELINE, region: null, complete: false, ignored: 'the file is the raster or metadata of a tile; the same cells are read from the tile\'s CSV' };
  }
  if (probe.entries === null) {
    if (/\.zip$/i.test(probe.name)) {
      if (named === null && !/^EGMS_L/i.test(probe.name)) return null;
      throw inputError('the EGMS download is not a zip', {
        code: 'EGMS_DOWNLOAD_REFUSED',
        at: probe.name,
        detail: `expected a zip, found ${describe(probe.head)}`,
        hint: 'The Explorer returns "429 Too Many Requests" or a login page if requests are too frequent or the token has expired. Get a new link and download the tile again.',
      });
    }
    return recogniseCsv(probe.name, probe.name, probe.head);
  }
  const paths = probe.entries.map((entry) => entry.path);
  const inside = paths.find((path) => NAME.test(path));
  if (named === null && inside === undefined && !paths.some((path) => path.toLowerCase().endsWith('.csv'))) return null;
  if (named === null && inside === undefined) {
    // The file may be a renamed tile or any other zip with one CSV, so no error is thrown, and the header determines whether the file is a tile.
    const csv = paths.filter((path) => path.toLowerCase().endsWith('.csv'));
    const [only] = csv;
    return only === undefined || csv.length > 1 ? null : recogniseCsv(probe.name, only, await probe.headOf(only));
  }
  const csv = csvEntry(paths, probe.name);
  const recognised = recogniseCsv(probe.name, csv, await probe.headOf(csv));
  if (recognised !== null) return recognised;
  throw inputError('the file is not an EGMS CSV', {
    code: 'EGMS_HEADER', at: `${probe.name}!${csv}`, detail: 'expected a header with pid, easting and mean_velocity', hint: 'Download the tile again.',
  });
}

/** @throws `EGMS_LEVEL`, `COLUMNS_CHANGED`, `EGMS_RELEASE`, `EGMS_COMPONENT` if the file is from EGMS but cannot be used */
function recogniseCsv(fileName: string, csvName: string, head: Buffer): Recognition | null {
  const end = head.indexOf(0x0a);
  const line = head.toString('utf8', 0, end === -1 ? head.length : end);
  const at = fileName === csvName ? fileName : `${fileName}!${csvName}`;
  const names = columnNames(line, at);
  const named = NAME.exec(csvName) ?? NAME.exec(fileName);
  const component = componentOf(csvName) ?? componentOf(fileName);
  // Columns are not checked if the component of the file is not read.
  if (component !== undefined && component !== VERTICAL && (named !== null || names !== null)) return horizontal(component, named?.[3] ?? BASELINE);
  if (names === null) return null;
  const header = headerOf(names, at);
  const vintage = named !== null ? named[3] ?? BASELINE : header.dates === null ? null : header.dates.map((date) => date.slice(0, 4)).join('_');
  if (vintage === null) {
    throw inputError('the EGMS release is unknown', {
      code: 'EGMS_RELEASE', at, detail: 'expected a release in the name or date columns in the header, found neither', hint: 'Give the file the name under which it was published.',
    });
  }
  if (component === undefined) {
    throw inputError('the EGMS component is unknown', {
      code: 'EGMS_COMPONENT',
      at,
      detail: 'expected U (vertical) or E (east) in the name, found neither; both components have the same columns',
      hint: 'Give the file the name under which it was published, EGMS_L3_<tile>_100km_U_<release>.csv.',
    });
  }
  const place = named?.[1]?.toUpperCase() ?? tileOf(header, head);
  return {
    role: 'vertical', vintage, region: null, complete: false,
    // The issue is padded with zeros, because issues are sorted as text and the tenth issue must come after the second issue.
    ...(named?.[4] === undefined ? {} : { dated: named[4].padStart(3, '0') }), ...(place === undefined ? {} : { place }),
  };
}

/**
 * Returns the component in a file name. If the file was renamed and the name no longer has the publisher's pattern (`NAME`), looks for the first `_E`, `_N` or
 * `_U` before `_`, `.`, `-` or the end of the name.
 */
function componentOf(name: string): string | undefined {
  return NAME.exec(name)?.[2]?.toUpperCase() ?? COMPONENT.exec(name.replace(/\.(?:csv|zip)$/i, ''))?.[1];
}

function horizontal(component: string, vintage: string): Recognition {
  return {
    role: 'horizontal', vintage, region: null, complete: false,
    ignored: `the file has the horizontal component ${component}; only the vertical component is read, with names like …_100km_U…`,
  };
}

/** Returns the tile of the first row, for a file whose name does not state the tile. */
function tileOf({ columns }: Header, head: Buffer): string | undefined {
  const cells = head.toString('latin1').split(/\r?\n/)[1]?.split(',') ?? [];
  const [east, north] = (['easting', 'northing'] as const).map((field) => /^\d{6,7}$/.exec(cells[columns[FIELDS.indexOf(field)] ?? -1] ?? '')?.[0].padStart(7, '0').slice(0, 2));
  return east === undefined || north === undefined ? undefined : `E${east}N${north}`;
}

function describe(head: Buffer): string {
  const text = head.toString('latin1', 0, 200).replace(/\s+/g, ' ').trim();
  return text === '' ? 'an empty file' : JSON.stringify(text.slice(0, 80));
}

export default defineSource({
  manifest,
  names: [/^EGMS_L3_E\d{2}N\d{2}_100km_[A-Z][^/]*\.(?:zip|csv)$/i],
  tables: {
    raw_egms_cell: {
      pid: 'text not null',
      easting: 'int4 not null',
      northing: 'int4 not null',
      height_m: 'float8 not null',
      rmse_mm: 'float8 not null',
      mean_velocity_mm_year: 'float8 not null',
      mean_velocity_std_mm_year: 'float8 not null',
      acceleration_mm_year2: 'float8 not null',
    },
  },
  layers,
  keys: { raw_egms_cell: ['easting', 'northing'] },
  recognise,
  read,
});
