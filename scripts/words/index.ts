/**
 * Lists the phrases of `phrases.ts` in everything that people read.
 *
 *   npm run words                               every finding: file:line, phrase, sentence
 *   npm run words -- sql test/api               only files below these folders
 *   npm run words -- --sample 200 --seed 7      random sentences, for a person to read
 *   npm run words -- --known                    writes the number of findings in each file to known.json
 */
import '../help.ts';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { readSentences } from './files.ts';
import { EXCEPTIONS } from './exceptions.ts';
import { countsOf, findingsOf } from './findings.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { sample: { type: 'string' }, known: { type: 'boolean', default: false }, seed: { type: 'string', default: '1' } } });
const sentences = readSentences().filter(({ file }) => positionals.length === 0 || positionals.some((folder) => file.startsWith(folder)));

if (values.sample !== undefined) {
  const random = randomOf('words', Number(values.seed));
  const drawn = sentences.map((sentence) => [random.next(), sentence] as const).sort(([a], [b]) => a - b).slice(0, Number(values.sample));
  for (const [, { file, line, kind, text }] of drawn) console.log(`${file}:${line}\t${kind}\t${text}`);
} else if (values.known) {
  writeFileSync(new URL('known.json', import.meta.url), `${JSON.stringify(countsOf(findingsOf(readSentences(), EXCEPTIONS)), null, 2)}\n`);
} else {
  const findings = findingsOf(sentences, EXCEPTIONS);
  for (const { file, line, phrase, instead, text } of findings) console.log(`${file}:${line}\t${phrase} -> ${instead}\t${text}`);
  console.error(`found ${findings.length} phrases in ${sentences.length} sentences`);
  process.exitCode = findings.length === 0 ? 0 : 1;
}
