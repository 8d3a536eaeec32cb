import { join, resolve } from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { homeFolder } from '../pipelines/config.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { withContext, type Context } from '../pipelines/run/context.ts';
import { firstFid } from '../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../pipelines/contract/sections.ts';
import { parseRegion } from './command.ts';
import { bringUpToDate, foldersOf, refreshing, type RefreshArguments } from './refresh.ts';
import { statementsOf } from '../pipelines/db/statements.ts';

const operate = statementsOf('operate');

/** Parameters of the synthetic demo region, which has data for every section. A load of the demo region takes about a minute. */
const DEMO = { parcels: 2000, seed: 1, region: 14, form: 'place' } as const;

export function loadRegionCommand(): Command {
  return refreshing('load-region', [
    'mappale load-region',
    'mappale load-region molise --data ~/downloads',
    'DATABASE_URL=postgres://me@localhost/italy mappale load-region molise --data ~/cadastre --data ~/istat',
  ])
    .argument('[region]', 'name or ISTAT code; default: the synthetic demo region')
    .action(async (region: string | undefined, options: RefreshArguments) => {
      // Checks the region name before the database is created.
      const code = region === undefined ? DEMO.region : parseRegion(region).code;
      process.exitCode = await withContext({ access: 'write' }, async (context) => {
        const isDemo = region === undefined && options.data === undefined;
        const data = isDemo ? [await writeDemo(context)] : foldersOf(options);
        return bringUpToDate(context, 'load-region', options, { data, regions: [code], more: () => anyParcel(context, code) });
      });
    });
}

async function writeDemo(context: Context): Promise<string> {
  const { writeSynthetic } = await import('../pipelines/synthetic/synthetic.ts');
  const folder = join(homeFolder(), 'demo');
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new MappaleError('cannot write the files of the synthetic region', {
      code: 'FOLDER_UNWRITABLE', kind: 'usage', at: resolve(folder), detail: `expected a writable folder, found: ${(error as Error).message}`,
      hint: 'Write the files to another folder and load that folder: npx mappale load-region molise --data /OTHER_FOLDER/demo', fix: 'npx mappale synth --out /OTHER_FOLDER/demo', cause: error,
    });
  });
  context.log.info(`writing the files of a synthetic region (${DEMO.parcels} parcels, seed ${DEMO.seed}) to ${folder}`);
  await writeSynthetic(context.sources, folder, DEMO);
  return folder;
}

/** Number of parcels to examine. The record of the parcel with the most non-empty sections is printed. */
const LOOKED_AT = 100;

/** Returns text with a shortened record of a parcel with many sections, and the next commands. Returns an empty string if the region has no parcel. */
async function anyParcel({ database }: Context, region: number): Promise<string> {
  // Finds the parcels in a separate query, because on several nodes the second query cannot join with parcels.
  const parcels = await database.query<{ fid: number }>(
    operate('some_land_parcels'), [firstFid(region), firstFid(region + 1), LOOKED_AT],
  );
  const [row] = await database.query<{ record: Record<string, unknown> | null }>(
    operate('fullest_record'),
    [parcels.map(({ fid }) => fid), SECTION_NAMES],
  );
  return row?.record == null ? '' : inShort(row.record);
}

const WIDTH = 110;

/** Returns text with each section of a record on one line of limited length, and the next commands. */
function inShort({ meta, ...sections }: Record<string, unknown>): string {
  const lines = Object.entries(sections).map(([name, value]) => {
    const line = `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`.replaceAll('":', '": ').replaceAll(',"', ', "');
    return line.length > WIDTH ? `${line.slice(0, WIDTH)} …` : line;
  });
  const { licenses } = meta as { licenses: readonly { readonly holder: string }[] };
  return ['', '', '{', lines.join(',\n'), '}',
    `${licenses.length} licences of ${new Set(licenses.map(({ holder }) => holder)).size} holders; each record lists its licences. To list all sources, run: npx mappale sources`,
    '', 'Next:', `  npx mappale parcel ${String(sections['fid'])}  print the complete record`, '  npx mappale status', '  npx mappale serve'].join('\n');
}
