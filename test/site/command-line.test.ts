/** Tests the options of every command: JSON, help, and completion in the shells of this machine. */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { program } from '../../cli/main.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { regionService } from '../api/harness.ts';
import { describeDatabase } from '../harness/database.ts';
import { childEnvironment, testEnvironment } from '../harness/environment.ts';
import { PROGRAM } from '../harness/program.ts';
import { startPublisher, type PublisherServer } from '../harness/publishers.ts';
import { syntheticFiles } from '../harness/region.ts';

const root = await program();
const inside = (parent: Command, above: string): (readonly [path: string, command: Command])[] => parent.commands.flatMap((each) => {
  const path = `${above}${each.name()}`;
  return each.commands.length === 0 ? [[path, each] as const] : inside(each, `${path} `);
});
const commands = inside(root, '');

/** Commands that run until a signal. `test/api/sign-in.test.ts` checks the JSON of `serve`. `mcp` prints only messages of its protocol. */
const ENDLESS = ['serve', 'mcp'];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'mappale-line-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command in this process. @returns its standard output */
async function output(words: readonly string[]): Promise<string> {
  const written: string[] = [];
  const out = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => written.push(String(chunk)) > 0);
  const quiet = vi.spyOn(process.stderr, 'write').mockImplementation(() => true);
  try {
    await (await program()).parseAsync(['--quiet', ...words], { from: 'user' });
  } finally {
    out.mockRestore();
    quiet.mockRestore();
    process.exitCode = undefined;
  }
  return written.join('');
}

/** Runs a command in this process. @returns its standard output as JSON */
async function json(words: readonly string[]): Promise<unknown> {
  return JSON.parse(await output([...words, '--json']));
}

describe('every command', () => {
  it.each(commands)('%s takes --json, and shows --home, --verbose and --quiet in its help', (_path, each) => {
    expect(each.options.map(({ long }) => long)).toContain('--json');
    expect(['--home', '--verbose', '--quiet'].filter((option) => !each.helpInformation().includes(option))).toEqual([]);
  });

  it.each([
    [['status', '--nothing'], "unknown option '--nothing'"], [['lineage'], "missing required argument 'id'"], [['nothing'], "unknown command 'nothing'"],
  ])('prints the error about invalid arguments as one JSON document with --json: %j', (words, message) => {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, ...words, '--json'], { encoding: 'utf8', env: childEnvironment({}) });
    expect([status, JSON.parse(stdout)]).toEqual([2, { error: 'ARGUMENTS_INVALID', message }]);
  });

  it.each([
    [['findings', '--comune', 'H833', '--format', 'csv'], '--format csv'], [['findings', '--comune', 'H833', '--format=geojson'], '--format geojson'],
    [['diff', 'molise', '--csv'], '--csv'], [['validate', 'FILE', '--format', 'junit'], '--format junit'], [['validate', 'FILE', '--format', 'github'], '--format github'],
  ])('refuses --json with an option for a different output format: %j', (words, other) => {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, ...words, '--json'], { encoding: 'utf8', env: childEnvironment({}) });
    expect([status, JSON.parse(stdout)]).toMatchObject([2, { error: 'FORMATS_SEVERAL', detail: `expected --json or ${other}, found both` }]);
  });

  it.each(['2026-13-01', '2026-02-31', '2026-1-31', 'yesterday'])('with the option --since (only `changes`) refuses %s, which is not a day', (day) => {
    const { status, stdout } = spawnSync(process.execPath, [PROGRAM, 'changes', 'molise', '--since', day, '--json'], { encoding: 'utf8', env: childEnvironment({}) });
    expect([status, JSON.parse(stdout)]).toEqual([2, expect.objectContaining({ error: 'SINCE_INVALID', detail: expect.stringContaining(`found ${day}`) })]);
  });
});

describeDatabase('with --json, a command', (engine) => {
  const rows = z.array(z.looseObject({}));
  const report = z.looseObject({ runId: z.number().nullable(), failures: z.array(z.unknown()), units: rows });
  let words: Readonly<Record<string, readonly [line: readonly string[], schema: z.ZodType]>>;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  /** Server that has none of the files that `watch` requests. */
  let publisher: PublisherServer;

  beforeAll(async () => {
    const { url, database } = await regionService(engine);
    files = await syntheticFiles(400, 11, {});
    const [parcel] = await database.query<{ fid: number; comune: string }>("select fid, belfiore as comune from core.parcel where kind = 'land' order by fid limit 1");
    const { fid, comune } = parcel!;
    vi.stubEnv('DATABASE_URL', url);
    vi.stubEnv('MAPPALE_HOME', folder);
    publisher = await startPublisher();
    for (const source of await loadSources()) vi.stubEnv(`MAPPALE_${source.id.toUpperCase()}_URL`, publisher.url);
    writeFileSync(join(folder, 'table.csv'), `fid\n${fid}\n`);
    const id = String(fid);
    const region = 'molise';
    const error = z.looseObject({ error: z.string(), message: z.string() });
    words = {
      fetch: [['fetch', region, '--dry-run', '--sources', 'none'], error],
      'load-region': [['load-region', region, '--data', files.folder], report],
      plan: [['plan', region, '--data', files.folder], z.looseObject({ load: rows, build: rows, price: z.looseObject({}) })],
      status: [['status'], z.looseObject({ regions: rows, releases: rows, runs: rows })],
      sources: [['sources'], rows.min(1)],
      parcel: [['parcel', id], z.looseObject({ fid: z.literal(fid), meta: z.looseObject({}) })],
      report: [['report', region], z.looseObject({ region: z.looseObject({}), coverage: rows })],
      enrich: [['enrich', join(folder, 'table.csv'), '--out', join(folder, 'out.csv')], z.looseObject({ rows: z.literal(1) })],
      export: [['export', region, '--format', 'csv', '--out', join(folder, 'region.csv')], z.looseObject({ parcels: z.number(), digest: z.string() })],
      catalog: [['catalog', '--out', join(folder, 'catalog'), '--exports', folder], z.looseObject({ documents: z.number().min(3), exports: z.array(z.string()).min(1) })],
      dossier: [['dossier', id], z.looseObject({ record: z.looseObject({ fid: z.literal(fid) }) })],
      findings: [['findings', '--comune', comune], z.looseObject({ comune: z.literal(comune), findings: rows.min(5) })],
      'token create': [['token', 'create', '--scopes', 'parcels:read'], z.object({ id: z.number(), token: z.string() })],
      'token list': [['token', 'list'], rows.min(1)],
      'token revoke': [['token', 'revoke', '1'], z.object({ id: z.literal(1), state: z.literal('revoked') })],
      doctor: [['doctor'], z.array(z.looseObject({ check: z.string(), ok: z.boolean() }))],
      synth: [['synth', '--out', join(folder, 'synthetic'), '--parcels', '200', '--source', 'istat_comuni'], z.looseObject({ parcels: z.number() })],
      migrate: [['migrate'], z.object({ steps: z.array(z.string()), losses: z.array(z.unknown()) })],
      prune: [['prune', '--dry-run'], z.looseObject({ releases: z.array(z.unknown()) })],
      refresh: [['refresh', '--data', files.folder], report],
      watch: [['watch', '--once', '--data', files.folder], z.looseObject({ exit_code: z.number() })],
      rejects: [['rejects'], z.object({ summary: rows, rejects: rows })],
      validate: [['validate', join(files.folder)], rows.min(1)],
      // This command ends with an error, because there is no earlier publication.
      diff: [['diff', region], error],
      explain: [['explain', id, 'basic'], z.looseObject({ fid: z.literal(fid), rows })],
      history: [['history', id], z.looseObject({ fid: z.literal(fid), fields: rows })],
      changes: [['changes', region, '--since', '0', '--out', join(folder, 'changes.jsonl')], z.looseObject({ out: z.string(), publication: z.number() })],
      lineage: [['lineage', id], z.object({ data: z.object({ parents: rows, children: rows }), meta: z.looseObject({ fid: z.literal(fid) }) })],
      completion: [['completion', 'bash'], z.object({ shell: z.literal('bash'), script: z.string() })],
      forget: [['forget', 'Elenco-comuni-italiani.csv'], z.looseObject({ files: rows })],
      pin: [['pin', region], z.object({ unit: z.number(), pinned: z.literal(true) })],
      unpin: [['unpin', region], z.object({ unit: z.number(), held: z.literal(true) })],
      withdraw: [['withdraw', region], z.looseObject({ publication: z.number() })],
      rollback: [['rollback', region], z.looseObject({ to: z.number() })],
    };
  });
  afterAll(async () => {
    vi.unstubAllEnvs();
    await publisher.close();
    await files.remove();
  });

  it('prints one valid JSON document, even for an error', async () => {
    expect(Object.keys(words).sort()).toEqual(commands.map(([path]) => path).filter((path) => !ENDLESS.includes(path)).sort());
    // Commands that change the publication come last.
    for (const [path, [line, schema]] of Object.entries(words)) {
      const found = await json(line).catch((error: unknown) => JSON.parse(JSON.stringify(error)) as unknown);
      expect([path, schema.safeParse(found).error?.issues ?? []]).toEqual([path, []]);
    }
  });
});

describeDatabase('on a loaded region, mappale', (engine) => {
  let comune: string;

  beforeAll(async () => {
    const { url, region } = await regionService(engine);
    comune = region.comuni[0].belfiore;
    vi.stubEnv('DATABASE_URL', url);
    vi.stubEnv('MAPPALE_HOME', folder);
  });
  afterAll(() => void vi.unstubAllEnvs());

  it('findings --out --json writes the list to the file, and prints the counts as JSON', async () => {
    const out = join(folder, 'findings.csv');
    const counts = await json(['findings', '--comune', comune]) as object;
    expect(await json(['findings', '--comune', comune, '--out', out])).toEqual({ ...counts, out });
    expect(readFileSync(out, 'utf8')).toMatch(/^kind,address_id,/);
  });

  it('rejects --retry --code applies the current rules only to records with the given code', async () => {
    const { summary } = await json(['rejects']) as { summary: readonly { readonly code: string }[] };
    expect(new Set(summary.map(({ code }) => code)).size).toBeGreaterThan(1);
    const { code } = summary[0]!;
    const retried = await json(['rejects', '--retry', '--code', code]) as readonly { readonly code: string }[];
    expect(new Set(retried.map((each) => each.code))).toEqual(new Set([code]));
  });

  it('rejects names the filters if no rejected record matches', async () => {
    expect(await output(['rejects', '--code', 'typo'])).toBe('no rejected record matches --code typo\n');
    expect(await output(['rejects', '--source', 'ade_cadastre', '--code', 'typo', '--retry'])).toBe('no rejected record matches --source ade_cadastre --code typo\n');
  });
});

/** Functions that return the command that prints the completions of a line, by shell. */
const COMPLETE: Readonly<Record<'bash' | 'zsh' | 'fish', (script: string, line: readonly string[]) => readonly [program: string, words: readonly string[]]>> = {
  bash: (script, line) => ['bash', ['--norc', '-c', `source ${script}; complete -p mappale > /dev/null || exit 1; COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}; _mappale; printf '%s\\n' "\${COMPREPLY[@]}"`]],
  zsh: (script, line) => ['zsh', ['-f', '-c', `autoload -U compinit && compinit -D; source ${script}; emulate ksh; COMP_WORDS=(${line.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${line.length - 1}; _mappale; printf '%s\\n' "\${COMPREPLY[@]}"`]],
  fish: (script, line) => ['fish', ['--no-config', '-c', `source ${script}; complete -C '${line.join(' ')}'`]],
};

describe.each(Object.keys(COMPLETE) as (keyof typeof COMPLETE)[])('completion in %s', (shell) => {
  const isThere = testEnvironment().path.some((each) => {
    try {
      accessSync(join(each, shell));
      return true;
    } catch {
      return false;
    }
  });

  async function complete(...line: readonly string[]): Promise<string[]> {
    const script = join(folder, `script.${shell}`);
    writeFileSync(script, (await json(['completion', shell]) as { script: string }).script);
    const [name, words] = COMPLETE[shell](script, ['mappale', ...line]);
    return execFileSync(name, words, { encoding: 'utf8', env: { PATH: testEnvironment().path.join(':'), HOME: folder, TERM: 'dumb' } }).split('\n')
      .map((each) => each.split('\t')[0]!)
      // In interactive use, zsh itself leaves out completions that do not begin with the typed word.
      .filter((each) => each !== '' && each.startsWith(line.at(-1)!)).sort();
  }

  it.skipIf(!isThere).each<[what: string, line: string[], found: string[]]>([
    ['commands', ['re'], ['refresh', 'rejects', 'report']],
    ['subcommands', ['token', 're'], ['revoke']],
    ['options of a command and of all commands', ['status', '--'], ['--help', '--home', '--json', '--quiet', '--verbose', '--version']],
    ['options of a subcommand', ['token', 'create', '--s'], ['--scopes']],
    ['regions', ['load-region', 'mo'], ['molise']],
    ['regions after an option', ['plan', '--json', 'pu'], ['puglia']],
    ['sections in a list', ['parcel', '--include', 'basic,ris'], ['basic,risk']],
    ['values of an option', ['export', '--format', 'geo'], ['geopackage', 'geoparquet']],
  ])('finds %s', async (_what, line, found) => {
    expect(await complete(...line)).toEqual(found);
  });

  it.skipIf(!isThere)('finds sources', async () => {
    const ids = (await loadSources()).map(({ id }) => id).sort();
    expect(await complete('sources', '')).toEqual(ids);
  });
});
