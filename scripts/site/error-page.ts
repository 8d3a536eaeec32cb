/** Writes the page of all errors, by exit code. */
import type { ExitKind } from '../../pipelines/errors.ts';
import { exitCodes } from './commands.ts';
import { documentedErrors, type DocumentedError } from './errors.ts';
import { code, facts, page, prose, type Page } from './markdown.ts';

const GROUPS: readonly (readonly [title: string, kinds: readonly ExitKind[], meaning: string])[] = [
  ['Command line and machine', ['usage'], 'Exit 2. The command did nothing, or stopped early, for example because a disk is full.'],
  ['Files', ['input', 'rejects'], 'Exit 3, or 4 if too many records were refused. Other files are read. Nothing is published from the failed file.'],
  ['Checks', ['checks'], 'Exit 5. The new data is not published. The published data stays unchanged.'],
  ['The database', ['database'], 'Exit 6. The published data stays unchanged. The same command continues where it stopped.'],
  ['Another run', ['locked'], 'Exit 7.'],
  ['Bugs', ['bug'], 'Exit 1. Please report the bug with the output.'],
];

/** Returns one error per code: the error with the most complete texts. */
function byCode(errors: readonly DocumentedError[]): DocumentedError[] {
  const found = new Map<string, DocumentedError>();
  const weight = ({ message, hint, fix }: DocumentedError): number =>
    [message, hint, fix].filter((text) => text !== '' && !text.includes('…')).length * 2 + [hint, fix].filter((text) => text !== '').length;
  for (const each of errors) {
    const before = found.get(each.code);
    if (before === undefined || weight(each) > weight(before)) found.set(each.code, each);
  }
  return [...found.values()];
}

export function errorPage(): Page {
  const all = byCode(documentedErrors());
  return page('errors.md', 'When something goes wrong', [
    'An error message states what happened, where, and which values were expected and found. The last line is a command to type. With `--json`, the error is a JSON object on stdout with the same code.',
    'First run `npx mappale` and `npx mappale doctor`. Neither command changes anything.',
    exitCodes(),
    ...GROUPS.flatMap(([title, kinds, meaning]) => [`## ${title}`, meaning, ...all.filter(({ kind }) => kinds.includes(kind)).flatMap((each) => [
      `### ${each.code}`, facts([['Message', prose(each.message)], ['Hint', prose(each.hint)], ['Command', each.fix === '' ? '' : code(each.fix)]]),
    ])]),
    '## Errors of PostgreSQL and of the connection',
    'All other codes that begin with `SQL_` are errors of PostgreSQL or of the connection to the server, with the original message. After `SQL_`, such a code has the five characters of the PostgreSQL error code, the code of a system error such as `EHOSTUNREACH`, or `UNKNOWN`.',
  ]);
}
