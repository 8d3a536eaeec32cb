/** Command that prints the published values of a parcel, with the time of each change. */
import type { Command } from 'commander';
import { group } from '../pipelines/progress.ts';
import { parcelHistory, type Absence, type ParcelHistory, type PublishedValue } from '../pipelines/operate/history.ts';
import { command, look } from './command.ts';
import { findEver, notFound } from './parcel-id.ts';

/** Maximum number of characters of a printed value. `--json` prints values in full. */
const SHOWN = 80;

export function historyCommand(): Command {
  return command('history', [
    'mappale history 1400000000', 'mappale history H833_001300.594 --json',
  ])
    .argument('<id>', 'fid or national cadastral reference, including retired parcels')
    .option('--json', 'print as JSON, including values that never changed')
    .action((id: string, options: { json?: boolean }) => look(options, async (context) => {
      const history = await parcelHistory(context.database, await findEver(context, id));
      if (history.fields.length === 0 && history.absences.every(({ why }) => why === 'not_there')) throw notFound(id);
      return [history, () => describe(id, history)];
    }));
}

function describe(id: string, { fid, other_fids: others, keeps_history: keeps, kept_since: since, absences, fields }: ParcelHistory): string {
  const plain = fields.map((each) => ({ ...each, values: withoutRepeats(each.values) }));
  const changed = plain.filter(({ values }) => values.length > 1);
  const same = plain.length - changed.length;
  return [
    `parcel ${id}${id === String(fid) ? '' : `, fid ${fid}`}: kept since ${since ?? 'never'}; ${group(changed.length)} values changed, ${group(same)} unchanged (--json lists the unchanged values)`,
    ...(keeps ? [] : ['a database on several nodes keeps no history: only current values are known']),
    ...(others.length === 0 ? [] : [`other current or former fids with the same reference: ${others.map((other) => `npx mappale history ${other}`).join(', ')}`]),
    ...absences.map(describeAbsence),
    ...changed.flatMap(({ section, field, values }) => ['', field === '' ? section : `${section}.${field}`, ...values.map(describeValue)]),
  ].join('\n');
}

/** Removes each value that equals the value before it. Such values occur if the parcel had no published record for some time. */
function withoutRepeats(values: readonly PublishedValue[]): PublishedValue[] {
  return values.filter(({ value }, index) => index === 0 || JSON.stringify(value) !== JSON.stringify(values[index - 1]?.value));
}

function describeAbsence({ why, successor_fid: successor, since, until }: Absence): string {
  const text = {
    not_there: 'not published yet',
    gone: `no longer published${successor === null ? '' : `; its successor is ${successor}`}`,
    withdrawn: 'the region was withdrawn',
  }[why];
  return `  ${since} – ${until ?? 'now'}  ${text}`;
}

function describeValue({ value, publication, since, release }: PublishedValue): string {
  const text = value === undefined ? 'not in the section' : JSON.stringify(value);
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  const by = publication === null ? 'the national lists' : `publication ${publication}`;
  return `  since ${since}  ${shown}  (${by}${release === null ? '' : `; ${release}`})`;
}
