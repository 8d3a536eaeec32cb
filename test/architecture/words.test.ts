/** Tests that texts for people avoid the phrases of `scripts/words/phrases.ts`. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { EXCEPTIONS } from '../../scripts/words/exceptions.ts';
import { readSentences } from '../../scripts/words/files.ts';
import { countsOf, findingsOf, unneeded } from '../../scripts/words/findings.ts';
import { sentencesOf } from '../../scripts/words/texts.ts';

const texts = (file: string, content: string): string[] => sentencesOf(file, content).map(({ kind, text }) => `${kind}: ${text}`);

describe('the search for sentences', () => {
  it.each([
    ['line comments that follow each other as one', 'made.ts', '// One sentence on\n// two lines. Another one here.\nconst a = 1;', ['comment: One sentence on two lines.', 'comment: Another one here.']],
    ['doc comments without their marks', 'made.ts', '/**\n * Returns the first row.\n * @param rows must not be empty\n */\nfunction f() {}', ['comment: Returns the first row.', 'comment: rows must not be empty']],
    ['messages with gaps for values', 'made.ts', 'throw new Error(`expected ${a} rows in the file`);', ['message: expected … rows in the file']],
    ['names of tests', 'made.ts', "it('keeps the published region', () => {});", ['test name: keeps the published region']],
    ['no paths, identifiers or SQL', 'made.ts', "import a from './a b c.ts'; const b = 'select one from two'; const c = 'a-b';", []],
    ['comments and texts of SQL', 'made.sql', "-- purpose: one row a parcel\n-- reads: core.parcel and others\ncomment on table a is 'Rows that wait for a check';", ['comment: purpose: one row a parcel', 'comment: reads: core.parcel and others', 'message: Rows that wait for a check']],
    ['paragraphs, cells and items of documents without code', 'made.md', '# A short title\n\n```sh\nsome code stays out\n```\nUse `a b c d` for it.\n\n| one two three | four five six |\n- seven eight nine', ['document: A short title', 'document: Use … for it.', 'document: one two three', 'document: four five six', 'document: seven eight nine']],
    ['comments of configuration', 'made.yaml', 'a: 1 # The first of them.\n# Two lines\n# of one.', ['comment: The first of them.', 'comment: Two lines of one.']],
  ])('reads %s', (_, file, content, expected) => {
    expect(texts(file, content)).toEqual(expected);
  });
});

describe('the findings', () => {
  const sentences = sentencesOf('made.md', 'Rows told apart by key are kept. What is left is kept. What is left?');

  it('name the phrase, its line and what to write instead', () => {
    expect(findingsOf(sentences, []).map(({ line, phrase, instead }) => [line, phrase, instead])).toEqual([[1, 'told apart', 'distinguishes'], [1, 'What', 'a noun as the subject']]);
  });

  it('leave out sentences with an exception, and list exceptions without a sentence', () => {
    const covered = { file: 'made.md', text: 'told apart', reason: 'made' };
    expect(findingsOf(sentences, [covered])).toHaveLength(1);
    expect(unneeded(sentences, [covered, { ...covered, text: 'What is left?' }])).toEqual([{ ...covered, text: 'What is left?' }]);
  });
});

describe('the texts of the project', () => {
  const sentences = readSentences();

  it('are found in every folder', () => {
    const rooms = new Set(sentences.map(({ file }) => file.split('/')[0]!));
    expect([...rooms]).toEqual(expect.arrayContaining(['README.md', 'api', 'cli', 'docs', 'pipelines', 'scripts', 'sources', 'sql', 'test']));
  });

  it('contain in each file exactly the number of phrases that `known.json` lists', () => {
    // After a rewording, write the shorter list with `npm run words -- --known`.
    expect(countsOf(findingsOf(sentences, EXCEPTIONS))).toEqual(JSON.parse(readFileSync(new URL('../../scripts/words/known.json', import.meta.url), 'utf8')));
  });

  it('need every listed exception', () => {
    expect(unneeded(sentences, EXCEPTIONS)).toEqual([]);
  });
});
