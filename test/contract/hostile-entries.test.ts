/** Tests unusable entries of a data folder. The report names each entry with its reason, all other entries are read, and the exit code is 3. */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { exitCodeOf, refresh } from '../../pipelines/run/refresh.ts';
import { validate, type FileVerdict } from '../../pipelines/operate/validate.ts';
import { describeEngines } from '../harness/database.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions } from '../harness/region.ts';

const sources = await loadSources();
const root = mkdtempSync(join(tmpdir(), 'mappale-entries-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const GOOD = 'several-zones_2024.csv';

let folders = 0;
/** Returns a folder with one valid file. */
function folder(): string {
  folders += 1;
  const path = join(root, String(folders));
  mkdirSync(path);
  copyFileSync(join(ROOT, 'sources/dpc_seismic/fixture', GOOD), join(path, GOOD));
  return path;
}

const look = (path: string): Promise<FileVerdict[]> => validate([path], sources, null, () => undefined);
const pipe = (path: string): void => void execFileSync('mkfifo', [path]);
const sibling = (path: string): string => path.replace(/[^/]*$/, '');

type Entry = readonly [what: string, name: string, code: string, make: (path: string) => void | Promise<void>];
const ENTRIES: readonly Entry[] = [
  ['a dangling link', 'a.zip', 'LINK_DANGLING', (path) => symlinkSync(join(sibling(path), 'nowhere.zip'), path)],
  ['a link to itself', 'b.zip', 'LINK_CIRCULAR', (path) => symlinkSync(path, path)],
  ['two links to each other', 'c.zip', 'LINK_CIRCULAR', (path) => {
    symlinkSync(`${path}.2`, path);
    symlinkSync(path, `${path}.2`);
  }],
  ['the folder linked into itself', 'again', 'LINK_CIRCULAR', (path) => symlinkSync(sibling(path), path)],
  ['the root of the file system', 'everything', 'LINK_CIRCULAR', (path) => symlinkSync('/', path)],
  ['a named pipe', 'MOLISE.zip', 'NOT_A_FILE', pipe],
  ['a link to a named pipe', 'PUGLIA.zip', 'NOT_A_FILE', (path) => {
    pipe(join(root, 'pipe'));
    symlinkSync(join(root, 'pipe'), path);
  }],
  ['a link to a device that never ends', 'zero.csv', 'NOT_A_FILE', (path) => symlinkSync('/dev/zero', path)],
  ['a socket', 'socket', 'NOT_A_FILE', (path) => new Promise((resolve) => {
    const server = createServer().listen(path, resolve);
    afterAll(() => void server.close());
  })],
  ['a file that the system cannot read', 'INDIR_MOLI_20260602.csv', 'FILE_UNREADABLE', (path) => symlinkSync('/proc/self/mem', path)],
  ['a name that is not UTF-8', 'citt\\xe0.csv', 'NAME_NOT_UTF8', (path) => writeFileSync(Buffer.concat([Buffer.from(sibling(path)), Buffer.from('citt\u00e0.csv', 'latin1')]), 'x')],
];

describe('a folder with unusable entries', () => {
  it.each(ENTRIES)('is read except for %s (%s), which is reported as %s', async (_what, name, code, make) => {
    const data = folder();
    await make(join(data, name));
    const verdicts = await look(data);
    expect(verdicts.find(({ source }) => source === 'dpc_seismic')).toMatchObject({ ok: true });
    expect(verdicts.find(({ path }) => path === join(data, name))).toMatchObject({ ok: false, findings: [{ level: 'error', code, detail: expect.stringMatching(/expected .* found/), hint: expect.any(String) }] });
    expect(verdicts.filter(({ ok, source }) => ok && source === null)).toEqual([]);
  });

  it('is not reported as empty if its only entry is unusable', async () => {
    const data = folder();
    rmSync(join(data, GOOD));
    pipe(join(data, 'MOLISE.zip'));
    expect(await look(data)).toMatchObject([{ ok: false, findings: [{ code: 'NOT_A_FILE' }] }]);
  });

  it('is checked without waiting for a pipe among the files of a shapefile', async () => {
    const data = folder();
    for (const part of ['.shp', '.shx', '.dbf', '.cpg', '.prj']) {
      if (part === '.cpg') pipe(join(data, `finta${part}`));
      else writeFileSync(join(data, `finta${part}`), '');
    }
    expect((await look(data)).find(({ path }) => path.endsWith('.cpg'))).toMatchObject({ findings: [{ code: 'NOT_A_FILE' }] });
  });

  it('lists a file that has copies and links only once, under a real path, even if folders link to each other', async () => {
    const data = folder();
    for (const name of ['a', 'b']) mkdirSync(join(data, name));
    copyFileSync(join(data, GOOD), join(data, 'a', 'copy_2024.csv'));
    symlinkSync(join(data, 'a'), join(data, 'b', 'to-a'));
    symlinkSync(join(data, 'b'), join(data, 'a', 'to-b'));
    const survey = await locate([data], sources, { get: () => undefined, set() {} });
    expect([survey.broken, survey.unknown]).toEqual([[], []]);
    expect(survey.releases.flatMap(({ files }) => files.map(({ path }) => path))).toEqual([join(data, 'a', 'copy_2024.csv')]);
  });

  it('with a link to another folder is read through the link', async () => {
    const [data, elsewhere] = [folder(), folder()];
    rmSync(join(data, GOOD));
    symlinkSync(elsewhere, join(data, 'linked'));
    expect(await look(data)).toMatchObject([{ path: join(data, 'linked', GOOD), ok: true }]);
  });
});

describe('a path argument', () => {
  it.each<[string, string, (path: string) => void]>([
    ['a named pipe', 'NOT_A_FILE', pipe],
    ['a link to a device', 'NOT_A_FILE', (path) => symlinkSync('/dev/zero', path)],
    ['a link to itself', 'LINK_CIRCULAR', (path) => symlinkSync(path, path)],
  ])('is rejected if it is %s, with the error %s', async (_what, code, make) => {
    const path = join(folder(), 'named');
    make(path);
    expect(await look(path)).toMatchObject([{ path, ok: false, findings: [{ code }] }]);
  });
});

describe('files without permission', () => {
  it('are reported with their path and the user who may not read them, and all other files are read', async () => {
    const data = folder();
    mkdirSync(join(data, 'closed'));
    writeFileSync(join(data, 'closed.csv'), 'x');
    for (const path of [root, data]) chmodSync(path, 0o755);
    for (const path of ['closed', 'closed.csv']) chmodSync(join(data, path), 0o000);
    // Root can read every file, so a test that runs as root switches to a different user.
    const isRoot = process.geteuid?.() === 0;
    if (isRoot) process.seteuid!(65_534);
    const verdicts = await look(data).finally(() => isRoot && process.seteuid!(0));
    for (const path of ['closed', 'closed.csv']) chmodSync(join(data, path), 0o755);
    expect(verdicts.map(({ path, ok, findings }) => [path.slice(data.length + 1), ok, findings[0]?.code])).toEqual([
      ['closed', false, 'FILE_UNREADABLE'], ['closed.csv', false, 'FILE_UNREADABLE'], [GOOD, true, undefined],
    ]);
    expect(verdicts[0]!.findings[0]!.detail).toMatch(/a file that \S+.* may not read/);
  });
});

describeEngines('a refresh of a folder with all these entries', (engine) => {
  it('loads the valid file, reports each unusable entry, and exits with 3', async () => {
    const data = folder();
    // PUGLIA.zip is left out, because a test above has already created the pipe that it links to.
    const unusable = ENTRIES.filter(([, name]) => name !== 'PUGLIA.zip');
    for (const [, name, , make] of unusable) await make(join(data, name));
    const report = await refresh(await contextOn(await engine.openDatabase(await migratedDatabase(engine)), sources), loadOptions([data], null));
    expect(report.loaded).toMatchObject([{ source: 'dpc_seismic' }]);
    expect(exitCodeOf(report)).toBe(3);
    const found = report.failures.map(({ code, at }) => `${code} ${basename(at!)}`);
    for (const [, name, code] of unusable) expect(found).toContain(`${code} ${name}`);
  });
}, ['postgres']);
