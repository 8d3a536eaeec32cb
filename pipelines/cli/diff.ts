import type { Command } from 'commander';
import { withContext } from '../run/context.ts';
import { diff, type Difference } from '../operate/diff.ts';
import { command, parseRegion, print, table } from './command.ts';

export function diffCommand(): Command {
  return command('diff', 'What the publication in force changed against the one before: parcels and values, by comune.', ['mappale diff molise', 'mappale diff molise --csv > changes.csv', 'mappale diff molise --json'])
    .argument('<region>', 'name or ISTAT code')
    .option('--csv', 'print as CSV: relation, comune, what, rows')
    .option('--json', 'print as JSON')
    .action(async (region: string, options: { csv?: boolean; json?: boolean }) => {
      const { code, name } = parseRegion(region);
      await withContext({ access: 'read' }, async (context) => {
        const differences = await diff(context.database, code);
        if (options.csv === true) process.stdout.write(csv(differences));
        else print(options.json, differences, () => (differences.length === 0 ? `${name}: both publications hold the same` : differences.map(describe).join('\n\n')));
      });
    });
}

/** Added, removed, changed, then each field that changed. */
function kinds({ added, removed, changed, fields }: Difference['comuni'][number]): [string, number][] {
  const all: [string, number][] = [['added', added], ['removed', removed], ['changed', changed], ...Object.entries(fields).map(([field, rows]): [string, number] => [`changed ${field}`, rows])];
  return all.filter(([, rows]) => rows > 0);
}

function describe({ relation, comuni }: Difference): string {
  return `${relation}\n${table(comuni.map((row) => [`  ${row.comune}`, row.added, row.removed, row.changed, Object.entries(row.fields).map(([field, rows]) => `${field} ${rows}`).join(', ')]), ['  comune', 'added', 'removed', 'changed', 'fields'])}`;
}

function csv(differences: readonly Difference[]): string {
  const lines = differences.flatMap(({ relation, comuni }) => comuni.flatMap((row) => kinds(row).map(([kind, rows]) => `${relation},${row.comune},${kind},${rows}`)));
  return `${['relation,comune,what,rows', ...lines].join('\n')}\n`;
}
