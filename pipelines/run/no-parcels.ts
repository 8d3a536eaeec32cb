/** Describes the failure of a refresh that finds neither parcels nor addresses of a region. */
import { findRegion, regionName } from '../contract/regions.ts';
import { inputError, type MappaleError } from '../errors.ts';
import { folderHint } from '../ingest/locate.ts';
import { holds } from '../ledger/hold.ts';
import { PUBLISHABLE } from '../ledger/inventory.ts';
import { publications } from '../ledger/published.ts';
import { quoted } from '../typed.ts';
import type { Context } from './context.ts';
import type { RefreshOptions } from './refreshing.ts';

/**
 * Returns a failure for each requested region that is neither published nor held. Without requested regions, returns one failure if no region is published or
 * held.
 */
export async function nothingPublished(context: Context, { regions, data }: RefreshOptions): Promise<MappaleError[]> {
  const there = new Set([...(await publications(context.database)).keys(), ...(await holds(context.database)).keys()]);
  if (regions !== null) return regions.filter((region) => !there.has(region)).map((region) => noParcels(context, region, data));
  there.delete(0);
  return there.size === 0 ? [noParcels(context, null, data)] : [];
}

export function noParcels(context: Context, region: number | null, data: readonly string[] | null): MappaleError {
  const titles = context.sources.filter(({ layer }) => layer.writes.some((relation) => PUBLISHABLE.includes(relation)));
  return inputError(region === null ? 'there are no parcels and no addresses of any region' : `there are no parcels and no addresses of ${regionName(region)}`, {
    code: 'NO_PARCELS', detail: `expected a file of ${titles.map(({ manifest }) => manifest.title).join(', or of ')}, found none with rows of the region`,
    hint: 'npx mappale plan --data FOLDER shows the content of the files. Download missing files, then run the command again:',
    fix: folderHint(data ?? [], context.sources) ?? `npx mappale fetch ${region === null ? 'REGION' : findRegion(region)?.slug ?? ''} --data ${quoted(data?.[0] ?? 'data')}`,
  });
}
