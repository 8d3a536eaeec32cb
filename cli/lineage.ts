/** Command that prints the parents and children of a parcel. */
import type { Command } from 'commander';
import { parcelLineage, type Kin, type Lineage } from '../pipelines/deliver/lineage.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { command, look } from './command.ts';
import { findEver, notFound } from './parcel-id.ts';

export function lineageCommand(): Command {
  return command('lineage', ['mappale lineage H833_001300.594', 'mappale lineage 1400000000 --json'])
    .argument('<id>', 'fid or national cadastral reference, including retired parcels')
    .option('--json', 'print as JSON')
    .action((id: string, options: { json?: boolean }) => look(options, async (context) => {
      const lineage = await parcelLineage(context.database, await findEver(context, id));
      if (!('refusal' in lineage)) return [lineage, () => describe(id, lineage)];
      if (lineage.refusal === 'not_there') throw notFound(id);
      throw new MappaleError('there is no history, because the database is distributed over several nodes', {
        code: 'NO_HISTORY', kind: 'usage', hint: 'Print the current record of the parcel.', fix: `npx mappale parcel ${id}`,
      });
    }));
}

function describe(id: string, { data: { parents, children }, meta: { fid, kept_since: since } }: Lineage): string {
  return [
    `parcel ${id}${id === String(fid) ? '' : `, fid ${fid}`}: ${parents.length} parents and ${children.length} children since ${since}`,
    ...parents.map((kin) => `${begins(kin)} is a parent; ${percent(kin.share_of_parent)} of the parent became ${percent(kin.share_of_child)} of this parcel`),
    ...children.map((kin) => `${begins(kin)} is a child; ${percent(kin.share_of_parent)} of this parcel became ${percent(kin.share_of_child)} of the child`),
  ].join('\n');
}

function begins({ publication, kind, cadastral_reference: reference, fid }: Kin): string {
  return `  publication ${publication}, ${kind}: ${reference} (${fid})`;
}

function percent(share: number): string {
  return `${Number((100 * share).toFixed(2))} %`;
}
