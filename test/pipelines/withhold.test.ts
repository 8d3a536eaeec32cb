/** Tests unusable files. A file withholds the region if its source is mandatory or its checks fail. Other unusable files are left out of the publication. */
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describe as describeReport } from '../../cli/refresh-report.ts';
import { readStatus } from '../../cli/status.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { inputError, MappaleError } from '../../pipelines/errors.ts';
import { openDatabase } from '../../pipelines/db/index.ts';
import { SILENT } from '../../pipelines/log.ts';
import { maskTaxCode } from '../../pipelines/mask-tax-code.ts';
import { describeNight, runNight } from '../../pipelines/operate/watch.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { exitCodeOf, preview, refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeDatabase } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { contentOf } from '../harness/arrival.ts';

const MOLISE = 14;
const { seed } = testEnvironment();
/** Mandatory sources, according to the contract. A region is withheld if a file of these sources cannot be used. */
const WITHHOLDING = ['ade_cadastre', 'trento_cadastre', 'bolzano_cadastre', 'anncsu_addresses', 'istat_comuni'];
/** A page that a server may send instead of a file. */
const PAGE = '<!DOCTYPE html><html><body>made: the server is busy</body></html>';

/** Returns the name of a file as shown by the program, with tax codes masked. */
const nameOf = (path: string): string => maskTaxCode(basename(path));

/** Maps the names or paths of failing files to the kind of failure. */
type Failing = ReadonlyMap<string, 'input' | 'rejects' | 'checks'>;

/** Returns the sources, changed so that reading a file in `files` throws an error after the last record. */
async function failing(files: Failing): Promise<RegisteredSource[]> {
  return (await loadSources()).map((source) => ({
    ...source,
    read: async (file, sink) => {
      await source.read(file, sink);
      const kind = files.get(file.path) ?? files.get(file.name);
      if (kind === 'input') throw inputError('made: the end is damaged', { code: 'MADE_DAMAGE', at: file.name });
      if (kind !== undefined) throw new MappaleError('made: too much is wrong', { code: `MADE_${kind.toUpperCase()}`, kind, at: file.name });
    },
  }));
}

describeDatabase('a file that cannot be used', (engine) => {
  let made: Awaited<ReturnType<typeof syntheticFiles>>;
  /** URL of a database into which all files of the region were loaded. */
  let wholeUrl: string;
  let whole: Record<string, string>;
  /** Maps sources to the paths of their files. */
  const filesOf = new Map<string, string[]>();
  let folder: string;
  let random: ReturnType<typeof randomOf>;

  const open = async (files: Failing = new Map(), url?: string): Promise<Context> =>
    contextOn(url === undefined ? await engine.openDatabase(await migratedDatabase(engine)) : await openDatabase(url), await failing(files));
  const load = (context: Context, data = folder): Promise<RefreshReport> => refresh(context, loadOptions([data], [MOLISE]));
  const codes = ({ failures }: RefreshReport): string[] => failures.map(({ code }) => code);
  const content = ({ database }: Context): Promise<Record<string, string>> => contentOf(database, [0, MOLISE]);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random.next() * items.length)]!;
  const here = (path: string): string => join(folder, path.slice(made.folder.length + 1));
  const restore = (path: string): Promise<void> => cp(path, here(path), { preserveTimestamps: false });
  const leftOut = ({ leftOut: all }: RefreshReport): (readonly [string, string])[] => (
    all.flatMap(({ source, files }) => files.map((file) => [source, file] as const)).sort()
  );

  /** Returns the content of a database that never loaded these files. */
  const freshWithout = async (paths: readonly string[]): Promise<Record<string, string>> => {
    const other = await mkdtemp(join(tmpdir(), 'mappale-fresh-'));
    await cp(made.folder, other, { recursive: true });
    for (const path of paths) await rm(join(other, path.slice(made.folder.length + 1)));
    const context = await open();
    const report = await load(context, other);
    await rm(other, { recursive: true, force: true });
    expect(codes(report)).toEqual([]);
    return content(context);
  };

  beforeAll(async () => {
    made = await syntheticFiles(160, 6, { comuni: 4 });
    wholeUrl = await migratedDatabase(engine);
    const context = await contextOn(await openDatabase(wholeUrl));
    const { plan } = await preview(context, loadOptions([made.folder], [MOLISE]));
    for (const { located: { source, files } } of plan.loads) filesOf.set(source.id, [...(filesOf.get(source.id) ?? []), ...files.map(({ path }) => path)]);
    expect(codes(await load(context, made.folder))).toEqual([]);
    whole = await content(context);
    await context.database.close();
    expect(filesOf.size).toBeGreaterThan(20);
  });
  afterAll(() => made.remove());
  beforeEach(async ({ task, onTestFinished }) => {
    random = randomOf(`withhold ${task.name}`, seed);
    folder = await mkdtemp(join(tmpdir(), 'mappale-withhold-'));
    await cp(made.folder, folder, { recursive: true });
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
  });

  /** Chooses `count` random optional sources, and a random file of each source. `only` selects sources by the paths of their files. */
  const someOptional = (count: number, only: (paths: readonly string[]) => boolean = () => true): Map<string, string> => {
    const ids = [...filesOf].filter(([id, paths]) => !WITHHOLDING.includes(id) && only(paths)).map(([id]) => id).sort();
    expect(ids.length).toBeGreaterThanOrEqual(count);
    const chosen = new Map<string, string>();
    while (chosen.size < count) {
      const id = pick(ids);
      chosen.set(id, chosen.get(id) ?? pick(filesOf.get(id)!));
    }
    console.log(`withhold, seed ${seed}: ${[...chosen].map(([id, path]) => `${id} ${nameOf(path)}`).join(', ')}`);
    return chosen;
  };

  it(`is left out of the first publication if its source is optional, and loaded when it is repaired, seed ${seed}`, async () => {
    const bad = someOptional(4);
    const paths = [...bad.values()];
    const expected = [...bad].map(([id, path]) => [id, nameOf(path)] as const).sort();
    // The damage of two files is detected when the file is recognised, and the damage of the other two when the file is read.
    const pages = paths.slice(0, 2);
    for (const path of pages) await writeFile(here(path), PAGE);
    const url = await migratedDatabase(engine);
    const first = await open(new Map([[nameOf(paths[2]!), 'input'], [nameOf(paths[3]!), 'rejects']]), url);
    const report = await load(first);
    expect(exitCodeOf(report)).toBe(3);
    expect(report.units.map(({ unit }) => unit)).toEqual([0, MOLISE]);
    expect(leftOut(report)).toEqual(expected);
    expect(await content(first)).toEqual(await freshWithout(paths));

    // The summary, the JSON and the status name the source and the file. The states of the sections agree with the coverage in the records.
    const text = describeReport(report);
    const json = JSON.stringify(report.leftOut);
    const status = (await readStatus(first)).regions.find(({ unit }) => unit === MOLISE)!.left_out;
    expect(status.flatMap(({ source, files }) => files.map((file) => [source, file])).sort()).toEqual(expected);
    for (const [id, name] of expected) for (const said of [text, json]) expect([said.includes(id), said.includes(name)]).toEqual([true, true]);
    const [{ coverage } = { coverage: {} }] = await first.database.query<{ coverage: Record<string, string> }>(
      "select api.parcel(min(fid), $1) -> 'meta' -> 'coverage' as coverage from core.parcel where kind = 'land'", [SECTION_NAMES],
    );
    const sections = report.leftOut.flatMap(({ regions }) => regions.flatMap((each) => each.sections));
    expect(sections.length).toBeGreaterThan(0);
    for (const { section, state } of sections) {
      if (section in coverage) expect(`${section} ${state === 'not_loaded'}`).toBe(`${section} ${coverage[section] === 'not_loaded'}`);
    }
    // A second run has nothing to publish, and reports the files again.
    const again = await load(first);
    expect([exitCodeOf(again), again.units, leftOut(again)]).toEqual([3, [], expected]);
    await first.database.close();

    for (const path of pages) await restore(path);
    const repaired = await open(new Map(), url);
    // The gate measures a source without earlier files as on a first load. If other files of the source were in use, the gate compares with these files,
    // and the user must accept the change.
    const accept = sections.some(({ state }) => state === 'kept') ? { who: 'test', why: 'the file was repaired' } : null;
    expect(codes(await refresh(repaired, loadOptions([folder], [MOLISE], { accept })))).toEqual([]);
    expect(await content(repaired)).toEqual(whole);
    expect((await readStatus(repaired)).regions.find(({ unit }) => unit === MOLISE)!.left_out).toEqual([]);
    expect((await load(repaired)).runId).toBeNull();
    await repaired.database.close();
  });

  it('leaves all other files of its release in use if its source is optional', async () => {
    const bad = someOptional(2, (paths) => paths.length > 1);
    const context = await open(new Map([...bad.values()].map((path) => [nameOf(path), 'input'])));
    const report = await load(context);
    expect([exitCodeOf(report), report.units.map(({ unit }) => unit)]).toEqual([3, [0, MOLISE]]);
    expect(leftOut(report)).toEqual([...bad].map(([id, path]) => [id, nameOf(path)]).sort());
    expect(await content(context)).toEqual(await freshWithout([...bad.values()]));
  });

  it('is the only file left out if a readable file of the same release has the same name in another folder', async () => {
    const path = filesOf.get('dpc_seismic')![0]!;
    const other = join(folder, 'made_again', basename(path));
    await mkdir(join(folder, 'made_again'));
    await writeFile(other, (await readFile(path, 'latin1')).replace(/(?<=[;,])2(?=[\r\n;,])/g, '3'), 'latin1');
    const context = await open(new Map([[other, 'input']]));
    const report = await load(context);
    expect([codes(report), exitCodeOf(report), leftOut(report)]).toEqual([['MADE_DAMAGE'], 3, [['dpc_seismic', nameOf(path)]]]);
    expect(report.loaded.filter(({ source }) => source === 'dpc_seismic').map(({ files }) => files)).toEqual([[nameOf(path)]]);
    expect(await content(context)).toEqual(whole);
  });

  it('leaves the earlier release in use if its source is optional, even if a different source has a new release', async () => {
    const bad = someOptional(3);
    const url = await engine.copyDatabase(wholeUrl);
    for (const path of bad.values()) await writeFile(here(path), PAGE);
    const seismic = filesOf.get('dpc_seismic')![0]!;
    if (!bad.has('dpc_seismic')) await writeFile(here(seismic), (await readFile(seismic, 'latin1')).replace(/(?<=[;,])2(?=[\r\n;,])/g, '3'), 'latin1');
    const context = await open(new Map(), url);
    const report = await refresh(context, loadOptions([folder], [MOLISE], { accept: { who: 'test', why: 'a test' } }));
    expect(exitCodeOf(report)).toBe(3);
    expect(leftOut(report)).toEqual([...bad].map(([id, path]) => [id, nameOf(path)]).sort());
    const now = await content(context);
    const changed = Object.keys(whole).filter((relation) => now[relation] !== whole[relation]);
    // The new release of the seismic zones is published, unless its file is one of the unusable files.
    expect([changed.length > 0, changed.filter((relation) => !/risk/.test(relation))]).toEqual([!bad.has('dpc_seismic'), []]);
    for (const { source, regions } of report.leftOut) {
      const vintages = [...new Set((await context.database.query<{ vintage: string }>(
        "select f.vintage from ledger.publication_file join ledger.publication p using (publication_id) join ledger.file f using (file_id) join ledger.release r using (release_id) where p.state = 'current' and p.unit_code = $1 and r.source_id = $2",
        [MOLISE, source],
      )).map(({ vintage }) => vintage))];
      for (const { sections } of regions) for (const each of sections) expect([each.state, each.vintages.every((vintage) => vintages.includes(vintage)), each.vintages.length > 0]).toEqual(['kept', true, true]);
    }
    await context.database.close();
  });

  it.each([['input', 3], ['rejects', 4]] as const)('withholds the region if it contains parcels, addresses or comuni: kind of error %s, exit code %s', async (kind, exit) => {
    const id = pick(WITHHOLDING.filter((each) => filesOf.has(each)));
    const context = await open(new Map([[nameOf(filesOf.get(id)!.at(-1)!), kind]]));
    const report = await load(context);
    expect([id, exitCodeOf(report), report.units.filter(({ unit }) => unit === MOLISE), report.leftOut]).toEqual([id, exit, [], []]);
  });

  it('withholds the region if the checks of a source fail, even if the source is optional', async () => {
    const [[, path] = []] = [...someOptional(1)];
    const context = await open(new Map([[nameOf(path!), 'checks']]));
    const report = await load(context);
    expect([exitCodeOf(report), report.units.filter(({ unit }) => unit === MOLISE), report.leftOut]).toEqual([5, [], []]);
  });

  it('is left out if it contradicts another file of its optional source, and the published file stays in use', async () => {
    const path = filesOf.get('dpc_seismic')![0]!;
    const other = join(folder, 'made_again', basename(path));
    await mkdir(join(folder, 'made_again'));
    await writeFile(other, (await readFile(path, 'latin1')).replace(/(?<=[;,])2(?=[\r\n;,])/g, '3'), 'latin1');
    const published = await open(new Map(), await engine.copyDatabase(wholeUrl));
    const report = await load(published);
    expect([codes(report), exitCodeOf(report), leftOut(report)]).toEqual([['FILES_CONTRADICT'], 3, [['dpc_seismic', basename(other)]]]);
    expect(await content(published)).toEqual(whole);
  });

  it('withholds the region if its source is mandatory and the file is not recognised, and the publication stays unchanged', async () => {
    const ids = WITHHOLDING.filter((id) => id !== 'istat_comuni' && filesOf.has(id));
    const id = pick(ids);
    const path = filesOf.get(id)!.at(-1)!;
    console.log(`withhold, seed ${seed}: ${id} ${nameOf(path)}`);
    await writeFile(here(path), PAGE);
    const first = await open();
    const report = await load(first);
    expect([id, exitCodeOf(report), report.units.filter(({ unit }) => unit === MOLISE), report.leftOut]).toEqual([id, 3, [], []]);
    expect(report.failures.some((failure) => failure.at?.endsWith(nameOf(path)))).toBe(true);
    // Another source also has a new release, but the region is not published with that release.
    const published = await open(new Map(), await engine.copyDatabase(wholeUrl));
    const seismic = filesOf.get('dpc_seismic')![0]!;
    await writeFile(here(seismic), (await readFile(seismic, 'latin1')).replace(/(?<=[;,])2(?=[\r\n;,])/g, '3'), 'latin1');
    const again = await refresh(published, loadOptions([folder], [MOLISE], { accept: { who: 'test', why: 'a test' } }));
    expect([id, exitCodeOf(again), again.units.filter(({ unit }) => unit === MOLISE)]).toEqual([id, 3, []]);
    expect(await content(published)).toEqual(whole);
    await published.database.close();
  });

  it('is listed with its sections in the log line and the JSON of watch', async () => {
    const bad = someOptional(2);
    for (const path of bad.values()) await writeFile(here(path), PAGE);
    const context = await open(new Map(), await engine.copyDatabase(wholeUrl));
    const line = await runNight(
      { sources: [], settings: () => ({ url: null, login: null, token: null }), log: SILENT, open: (work) => work(context) },
      { regions: [findRegion(MOLISE)!], data: [folder], parallel: 2, metrics: null, webhook: null, webhookPrivate: false, keep: null },
    );
    const left = line.left_out.map(({ source, files }) => [source, ...files]).sort();
    expect([line.exit_code, left]).toEqual([3, [...bad].map(([id, path]) => [id, nameOf(path)]).sort()]);
    const json = JSON.stringify(line);
    const text = describeNight(line);
    const sections = line.left_out.flatMap(({ regions }) => regions.flatMap((each) => each.sections.map(({ section }) => section)));
    expect(sections.length).toBeGreaterThan(0);
    const names = [...[...bad.values()].map((path) => nameOf(path)), ...sections];
    for (const name of names) expect([name, text.split('left out ')[1]?.includes(name), json.includes(name)]).toEqual([name, true, true]);
    await context.database.close();
  });
});
