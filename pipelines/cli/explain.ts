import { basename } from 'node:path';
import type { Command } from 'commander';
import { withContext } from '../run/context.ts';
import { parseInclude, SECTION_NAMES } from '../contract/sections.ts';
import { explain, type Explanation } from '../operate/explain.ts';
import { command, print } from './command.ts';
import { findParcel } from './parcel.ts';

export function explainCommand(): Command {
  return command('explain', 'Where the values of one section of one parcel come from: file, place, release, rule, overlap or distance.', [
    `mappale explain 1400000000 ${SECTION_NAMES[1]!}`,
    'mappale explain H833_001300.594 basic --json',
  ])
    .argument('<id>', 'fid, or national cadastral reference')
    .argument('<section>', 'name of a section')
    .option('--json', 'print as JSON')
    .action(async (id: string, section: string, options: { json?: boolean }) => {
      const [name] = parseInclude(section);
      await withContext({ access: 'read' }, async (context) => {
        const explanation = await explain(context, await findParcel(context, id), name!);
        print(options.json, explanation, () => describe(explanation));
      });
    });
}

function describe({ fid, section, rules, rows, reproduced, evidence }: Explanation): string {
  const lines = [`parcel ${fid}, ${section}, by ${rules.join(', ')}`];
  lines.push(rows.length === 0 ? 'the rule gives nothing for this parcel' : `the rule gives ${rows.length === 1 ? 'one row' : `${rows.length} rows`}, ${reproduced ? 'the same as is published' : 'NOT what is published: refresh the region'}`);
  for (const found of evidence) {
    const measure = found.measure === null ? '' : `, ${Number(found.measure.toPrecision(6))} ${found.unit ?? ''}`;
    lines.push('', `${found.field}: ${found.value ?? 'nothing'}${measure}`, `  ${found.rule}`,
      `  ${found.source} ${found.vintage}, ${basename(found.file)}${found.member === '' ? '' : `!${found.member}`}:${found.position}, sha256 ${found.sha256.slice(0, 16)}…`);
  }
  return lines.join('\n');
}
