import type { Command } from 'commander';
import type { Region } from '../pipelines/contract/regions.ts';
import { diff, type Difference } from '../pipelines/operate/diff.ts';
import { textTable } from '../pipelines/text-table.ts';
import { command, look, parseRegion } from './command.ts';
import { oneFormat } from './format-name.ts';

export function diffCommand(): Command {
  return command('diff', [
    'mappale diff molise', 'mappale diff molise --csv > changes.csv', 'mappale diff molise --json',
  ])
    .argument('<region>', 'name or ISTAT code', parseRegion)
    .option('--csv', 'print as CSV with the columns relation, comune, what, rows')
    .option('--json', 'print as JSON')
    .action(async ({ code, name, slug }: Region, { csv = false, json = false }: { csv?: boolean; json?: boolean }) => {
      oneFormat({ json, other: csv ? '--csv' : null, hint: 'Leave one of the options out.', fix: `npx mappale diff ${slug} --json` });
      return look({ json }, async ({ database }) => {
        const differences = await diff(database, code);
        if (csv) return [differences, () => asCsv(differences)];
        return [differences, () => (differences.length === 0 ? `${name}: the current and the previous publication are identical` : differences.map(describe).join('\n\n'))];
      });
    });
}

function describe({ relation, comuni }: Difference): string {
  const rows = comuni.map(({ comune, added, removed, changed, fields }) => [`  ${comune}`, added, removed, changed, Object.entries(fields).map((field) => field.join(' ')).join(', ')]);
  return `${relation}\n${textTable(rows, ['  comune', 'added', 'removed', 'changed', 'fields'])}`;
}

/** Returns CSV lines with the numbers of added, removed and changed rows and of changes to each field, by table and comune. Zeros are omitted. */
function asCsv(differences: readonly Difference[]): string {
  const lines = differences.flatMap(({ relation, comuni }) => comuni.flatMap(({ comune, added, removed, changed, fields }) => {
    const all = [...Object.entries({ added, removed, changed }), ...Object.entries(fields).map(([field, rows]) => [`changed ${field}`, rows] as const)];
    return all.filter(([, rows]) => rows > 0).map(([kind, rows]) => `${relation},${comune},${kind},${rows}`);
  }));
  return ['relation,comune,what,rows', ...lines].join('\n');
}
