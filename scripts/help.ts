/** Prints the first comment of the started script and exits with 0 if the arguments contain `--help`. Import this module first. */
import { readFileSync } from 'node:fs';

const [, script = '', ...words] = process.argv;
if (words.includes('--help') || words.includes('-h')) {
  const comment = /\/\*\*([\s\S]*?)\*\//.exec(readFileSync(script, 'utf8'))?.[1] ?? '';
  process.stdout.write(`${comment.replace(/^[ \t]*\*? ?/gm, '').trim()}\n`);
  process.exit(0);
}
