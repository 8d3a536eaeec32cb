/** Reads the sentences in all files of the checkout that git does not ignore. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sentencesOf, type Sentence } from './texts.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Matches files that are not checked: publishers' bytes, expected outputs, applied migrations, Italian text, the licence, and the files that list or test
 * phrases.
 */
const LEFT_OUT = /(?:^|\/)(?:fixture|golden)\/|^sql\/migrations\/|italian|^scripts\/words\/(?:phrases|exceptions)\.ts$|^test\/architecture\/words\.test\.ts$|^LICENSE$/;

export function readSentences(): Sentence[] {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  return files.filter((file) => file !== '' && !LEFT_OUT.test(file)).sort().flatMap((file) => {
    const content = readFileSync(join(ROOT, file), 'utf8');
    return sentencesOf(file, file === 'CHANGELOG.md' ? newest(content) : content);
  });
}

/** Returns the introduction and the first section of the changelog. Older sections are not checked. */
function newest(changelog: string): string {
  const [before = '', section = ''] = changelog.split(/^## /m);
  return `${before}${section}`;
}
