/** Command that counts or lists possible errors in the addresses of a comune. */
import { writeFile } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { expandPath } from '../pipelines/config.ts';
import { mustBePlace, writeAtomically } from '../pipelines/formats/atomic-write.ts';
import {
  countFindings, findingsCsv, findingsGeojson, listFindings, unknownFindings, type AddressRegister, type FindingCount,
} from '../pipelines/operate/findings.ts';
import { group } from '../pipelines/progress.ts';
import { withContext, type Context } from '../pipelines/run/context.ts';
import { textTable } from '../pipelines/text-table.ts';
import { retyped, withOption } from '../pipelines/typed.ts';
import { command, print } from './command.ts';
import { comunePlace } from './comune.ts';
import { oneFormat } from './format-name.ts';

interface Options {
  readonly comune: string;
  readonly format?: 'csv' | 'geojson';
  readonly out?: string;
  readonly json?: boolean;
}

export function findingsCommand(): Command {
  return command('findings', [
    'mappale findings --comune H833', 'mappale findings --comune Campobasso --format csv > findings.csv', 'mappale findings --comune H833 --format geojson --out h833.geojson',
  ])
    .requiredOption('--comune <comune>', 'cadastral code, ISTAT code or name')
    .addOption(new Option('--format <format>', 'list each finding in this format; by default, findings are only counted').choices(['csv', 'geojson']))
    .option('--out <file>', 'write the list to a file')
    .option('--json', 'print the counts as JSON')
    .action(async (options: Options) => {
      const out = options.out === undefined ? null : expandPath(options.out);
      if (out === null && options.format !== undefined) {
        oneFormat({
          json: options.json, other: `--format ${options.format}`, hint: 'Write the list to a file with --out, or leave --json out.',
          fix: retyped(
            withOption('--out', `findings.${options.format}`), `npx mappale findings --comune CODE --format ${options.format} --out findings.${options.format} --json`,
          ),
        });
      }
      if (out !== null) await mustBePlace(out);
      await withContext({ access: 'read' }, async (context) => {
        const { region, belfiore } = await comunePlace(context, options.comune, (code) => `npx mappale findings --comune ${code}`);
        const register = (await countFindings(context.database, region, [belfiore]))(belfiore);
        const format = options.format ?? (out === null ? null : 'csv');
        if (format === null) {
          print(options.json, { comune: belfiore, ...register }, () => describeRegister(belfiore, register));
          return;
        }
        await write(await listed(context, { region, belfiore, register, format }), out);
        if (out !== null && options.json === true) print(true, { comune: belfiore, ...register, out }, () => '');
      });
    });
}

interface List {
  readonly region: number;
  readonly belfiore: string;
  readonly register: AddressRegister;
  readonly format: 'csv' | 'geojson';
}

/** Returns the findings as text. Warns about kinds of findings that could not be checked, because otherwise an empty list would look like a good result. */
async function listed({ database, log }: Context, { region, belfiore, register, format }: List): Promise<string> {
  const unknown = unknownFindings(register);
  for (const sentence of unknown) log.warn(sentence);
  const findings = await listFindings(database, region, belfiore);
  return format === 'csv' ? findingsCsv(findings) : findingsGeojson(findings, unknown);
}

async function write(text: string, out: string | null): Promise<void> {
  if (out === null) process.stdout.write(text);
  else await writeAtomically(out, (unfinished) => writeFile(unfinished, text));
}

function describeRegister(belfiore: string, register: AddressRegister): string {
  const { addresses, compared_with: earlier, findings } = register;
  return [
    `${belfiore}: ${addresses === null ? 'no addresses' : `${group(addresses)} addresses`}${earlier === null ? '' : `, compared with ${earlier.file}`}`,
    textTable(findings.map((finding) => [`  ${findingName(finding)}`, finding.count === null ? 'unknown' : group(finding.count)]), ['  finding', 'count']),
    ...unknownFindings(register),
  ].join('\n');
}

/** Returns the kind of a finding with its distance class. */
function findingName({ kind, from_m: from, below_m: below }: FindingCount): string {
  if (from === null) return kind;
  return below === null ? `${kind} by ${from} m or more` : `${kind} by ${from === 0 ? '' : `${from} m to `}less than ${below} m`;
}
