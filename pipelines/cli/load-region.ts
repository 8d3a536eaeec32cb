import { join, resolve } from 'node:path';
import { mkdir } from 'node:fs/promises';
import type { Command } from 'commander';
import { MappaleError } from '../errors.ts';
import { withContext, type Context } from '../run/context.ts';
import { firstFid } from '../contract/regions.ts';
import { SECTION_NAMES } from '../contract/sections.ts';
import { parseRegion } from './command.ts';
import { bringUpToDate, foldersOf, refreshing, type RefreshArguments } from './refresh.ts';

/** The synthetic region that a newcomer sees: small enough for a minute, large enough for every section. */
const DEMO = { parcels: 2000, seed: 1, region: 14 } as const;

export function loadRegionCommand(): Command {
  return refreshing('load-region', 'Load one region from its raw files and publish it. Without arguments, load the synthetic demo region.', [
    'mappale load-region',
    'mappale load-region molise --data ~/downloads',
    'DATABASE_URL=postgres://me@localhost/italy mappale load-region molise --data ~/cadastre --data ~/istat',
  ])
    .argument('[region]', 'name or ISTAT code; default: the synthetic demo region')
    .action(async (region: string | undefined, options: RefreshArguments) => {
      // Looked at before a database is made.
      const code = region === undefined ? DEMO.region : parseRegion(region).code;
      process.exitCode = await withContext({ access: 'write' }, async (context) => {
        const isDemo = region === undefined && options.data === undefined;
        const data = isDemo ? [await writeDemo(context)] : foldersOf(options);
        return bringUpToDate(context, 'load-region', options, data, [code], () => anyParcel(context, code));
      });
    });
}

async function writeDemo(context: Context): Promise<string> {
  const { writeSynthetic } = await import('../synthetic/synthetic.ts');
  const folder = join('.mappale', 'demo');
  await mkdir(folder, { recursive: true }).catch((error: unknown) => {
    throw new MappaleError('the raw files of the synthetic region cannot be written here', {
      code: 'FOLDER_UNWRITABLE', kind: 'usage', at: resolve(folder), detail: `expected a place that this user may write to, found: ${(error as Error).message}`,
      hint: 'Write them elsewhere, and load them from there: npx mappale load-region molise --data /OTHER_FOLDER/demo', fix: 'npx mappale synth --out /OTHER_FOLDER/demo', cause: error,
    });
  });
  context.log.info(`writing the raw files of a synthetic region (${DEMO.parcels} parcels, seed ${DEMO.seed}) to ${folder}`);
  await writeSynthetic(context.sources, folder, DEMO);
  return folder;
}

/** Of so many parcels the one of which most can be told. */
const LOOKED_AT = 100;

/** A parcel worth showing, in short; empty: there is none. */
async function anyParcel({ database }: Context, region: number): Promise<string> {
  // Looked up first: where parcels lie on other nodes, a record is put together here.
  const parcels = await database.query<{ fid: number }>(
    "select fid from core.parcel where fid >= $1 and fid < $2 and kind = 'land' order by fid limit $3", [firstFid(region), firstFid(region + 1), LOOKED_AT],
  );
  const [row] = await database.query<{ record: Record<string, unknown> | null }>(
    `with looked_at as (
       select p.fid, api.parcel(p.fid, $2) as record from unnest($1::int4[]) as p (fid)
     )
     select l.record from looked_at l
     order by (select count(*) from json_each(l.record) block where block.value::text not in ('null', '[]')) desc, l.fid limit 1`,
    [parcels.map(({ fid }) => fid), SECTION_NAMES],
  );
  return row?.record == null ? '' : inShort(row.record);
}

const WIDTH = 110;

/** A record, each section on one line, as far as it goes, and what to type next. */
function inShort({ meta, ...sections }: Record<string, unknown>): string {
  const lines = Object.entries(sections).map(([name, value]) => {
    const line = `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`.replaceAll('":', '": ').replaceAll(',"', ', "');
    return line.length > WIDTH ? `${line.slice(0, WIDTH)} …` : line;
  });
  const { licenses } = meta as { licenses: readonly { readonly holder: string }[] };
  return ['', '', '{', lines.join(',\n'), '}',
    `${licenses.length} licences of ${new Set(licenses.map(({ holder }) => holder)).size} holders; each record carries them, and npx mappale sources lists them.`,
    '', 'Next:', `  npx mappale parcel ${String(sections['fid'])}    the whole record`, '  npx mappale status', '  npx mappale serve'].join('\n');
}
