import { basename } from 'node:path';
import { Option, type Command } from 'commander';
import { expandPath } from '../pipelines/config.ts';
import { EXIT } from '../pipelines/errors.ts';
import { loadSources } from '../pipelines/contract/registry.ts';
import { COLUMNS_ADDED, mustExist, validate, type FileVerdict, type Finding } from '../pipelines/operate/validate.ts';
import { command, describeUnknown, parseCount } from './command.ts';
import { formatNamed, oneFormat } from './format-name.ts';
import { asInstalled, retyped, withOption } from '../pipelines/typed.ts';
import { vintageText } from '../pipelines/contract/vintage.ts';

const FORMATS = { text: 'text', json: 'json', junit: 'junit', github: 'github' } as const;

export function validateCommand(): Command {
  return command('validate', [
    'mappale validate downloads/MOLISE.zip',
    'mappale validate downloads --format junit > report.xml',
    'mappale validate QI_20251.zip --sample 1000',
  ])
    .argument('<files...>', 'files, zips or folders; each file is recognised by its content, and for some sources also by its name')
    .addOption(new Option('--format <format>', 'format of the result').choices(Object.keys(FORMATS)).argParser(String).default('text'))
    .option('--sample <n>', 'check only the first N records of each file', parseCount)
    .option('--json', 'same as --format json')
    .action(async (files: string[], options: { format: string; sample?: number; json?: boolean }) => {
      const named = formatNamed(options.format, FORMATS, 'npx mappale validate FILE');
      oneFormat({
        json: options.json, other: ['text', 'json'].includes(named) ? null : `--format ${named}`, hint: 'Leave one of the options out.',
        fix: retyped(withOption('--format', 'json'), 'npx mappale validate FILE --json'),
      });
      const format = options.json === true ? 'json' : named;
      const paths = files.map(expandPath);
      for (const path of paths) await mustExist(path);
      const verdicts = await validate(paths, await loadSources(), options.sample ?? null, (verdict) => {
        if (format === 'text' && !isStranger(verdict)) process.stdout.write(`${describe(verdict)}\n`);
      });
      if (format === 'text') for (const line of describeUnknown(verdicts.filter(isStranger).map(({ path }) => path))) process.stdout.write(`skip  ${asInstalled(line)}\n`);
      if (format === 'json') process.stdout.write(`${JSON.stringify(verdicts, null, 2)}\n`);
      if (format === 'junit') process.stdout.write(junit(verdicts));
      if (format === 'github') process.stdout.write(verdicts.flatMap(({ path, findings }) => findings.map((finding) => github(path, finding))).join(''));
      process.exitCode = verdicts.every(({ ok }) => ok) ? EXIT.done : EXIT.input;
    });
}

/** Returns true if a file was found in a folder and no source reads the file. */
function isStranger({ ok, source }: FileVerdict): boolean {
  return ok && source === null;
}

function describe(verdict: FileVerdict): string {
  const { ok, path, source, role, vintage, records, rows, rejects, duplicates } = verdict;
  const aside = verdict.findings.find(({ code }) => code === 'LEFT_ASIDE');
  if (ok && aside !== undefined) return `aside ${path} (${source ?? ''}): ${aside.message}`;
  const head = source === null || aside !== undefined
    ? `FAIL  ${path}${source === null ? '' : ` (${source})`}`
    : `${ok ? 'ok   ' : verdict.findings.some(({ level }) => level === 'error') ? 'FAIL ' : 'warn '} ${path} (${source}${role === null ? '' : ` ${role} ${vintageText(vintage ?? '')}`}): `
      + `${records || rows + rejects} records = ${rows} rows + ${rejects} rejects + ${duplicates} duplicates${verdict.sampled ? ', first records only' : ''}`;
  return [head, ...verdict.findings.flatMap((finding) => [
    `      ${finding.level === 'error' ? 'error' : 'warning'}: ${finding.message} [${finding.code}]`,
    `        at: ${finding.at}`,
    ...(finding.detail === undefined ? [] : [`        detail: ${finding.detail}`]),
    ...(finding.samples === undefined || finding.samples.length === 0 ? [] : [`        values: ${finding.samples.map((sample) => JSON.stringify(sample)).join(', ')}`]),
    ...(finding.hint === undefined ? [] : [`        hint: ${finding.hint}`]),
    ...(finding.fix === undefined ? [] : [`        type: ${finding.fix}`]),
  ])].join('\n');
}

function escapeXml(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, '?')
    .replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function junit(verdicts: readonly FileVerdict[]): string {
  const cases = verdicts.map((verdict) => {
    // Sample values of unknown columns are omitted, because test reports are often uploaded to other machines.
    const errors = verdict.findings.filter(({ level, code }) => level === 'error' || code === COLUMNS_ADDED);
    const body = errors.map((finding) => `<failure message="${escapeXml(`${finding.message} [${finding.code}]`)}">${escapeXml([finding.at, finding.detail, finding.hint].filter(Boolean).join('\n'))}</failure>`).join('');
    return `  <testcase classname="${escapeXml(verdict.source ?? 'unknown')}" name="${escapeXml(basename(verdict.path))}">${body}</testcase>\n`;
  });
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="mappale validate" tests="${verdicts.length}" failures="${verdicts.filter(({ ok }) => !ok).length}">\n${cases.join('')}</testsuite>\n`;
}

function github(path: string, finding: Finding): string {
  // An annotation is one line of output, so line breaks in its text are escaped.
  const escape = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
  const property = (text: string): string => escape(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
  const line = /:(\d+)(?=,|$)/.exec(finding.at)?.[1];
  return `::${finding.level === 'error' ? 'error' : 'warning'} file=${property(path)}${line === undefined ? '' : `,line=${line}`},title=${finding.code}::${escape([finding.message, finding.at, finding.detail, finding.hint].filter(Boolean).join('\n'))}\n`;
}
