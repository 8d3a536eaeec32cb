/**
 * Checks that matching a regular expression never takes more than linear time, whatever the text. The check of each expression has a budget of steps, so the
 * result does not depend on the machine. `exceptions.json` lists the expressions that are safe only for short text. Each entry has the origin and the maximum
 * length of the text.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check } from 'recheck';
import { expressionsOf, type Expression } from './expressions.ts';
import { findingsOf, type Exception, type Verdict } from './findings.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const EXCEPTIONS = new URL('exceptions.json', import.meta.url);
/** Files to check. Tests and development scripts are not checked, because they read no text from outside. */
const PROGRAM = ['pipelines', 'sources', 'api', 'cli', 'sql'].flatMap((folder) => ['ts', 'js', 'mjs'].map((ending) => `${folder}/*.${ending}`));
/** Maximum number of steps to check one expression. The check has no time limit, because a slow machine must not change a verdict. */
const BUDGET = {
  timeout: null, attackTimeout: null, incubationTimeout: null, randomSeed: 1,
  attackLimit: 2_000_000, incubationLimit: 25_000, maxIteration: 3, maxInitialGenerationSize: 100, maxGenerationSize: 40,
} as const;

/** Returns the distinct regular expressions of the files to check, including untracked files that git does not ignore. Leaves out test files. */
function collect(): Expression[] {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', ...PROGRAM], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const found = files.filter((file) => file !== '' && !file.endsWith('.test.ts')).flatMap((file) => expressionsOf(file, readFileSync(join(ROOT, file), 'utf8')));
  const all = new Map<string, Expression>();
  for (const each of found) all.set(each.text, { ...each, places: [...(all.get(each.text)?.places ?? []), ...each.places] });
  return [...all.values()];
}

async function verdictOf({ pattern, flags }: Expression): Promise<Verdict> {
  if (pattern === null) return 'unknown';
  const { status } = await check(pattern, flags, BUDGET);
  return status;
}

const expressions = collect();
const judged: [Expression, Verdict][] = [];
for (const expression of expressions) judged.push([expression, await verdictOf(expression)]);
const exceptions = JSON.parse(readFileSync(EXCEPTIONS, 'utf8')) as readonly Exception[];
const findings = findingsOf(judged, exceptions);
for (const finding of findings) console.log(finding);
console.error(`${expressions.length} expressions: ${judged.filter(([, verdict]) => verdict === 'safe').length} linear, ${exceptions.length} safe on short text only`);
process.exitCode = findings.length === 0 ? 0 : 1;
