/** Tests refreshes from partial or malformed files, and from files of different days. Each tested case has occurred with real files. */
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { ZipArchive } from '../../pipelines/formats/zip.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { forget } from '../../pipelines/operate/forget.ts';
import { prune } from '../../pipelines/operate/prune.ts';
import { holds, releaseHold, setHold } from '../../pipelines/ledger/hold.ts';
import { publishedTables } from '../../pipelines/ledger/published.ts';
import { rollback, withdraw } from '../../pipelines/build/publish.ts';
import { exitCodeOf, preview, refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';
import { openRun } from '../harness/run.ts';
import { queryRecords } from '../harness/records.ts';

const [ABRUZZO, MOLISE] = [13, 14];
const SOURCES = ['ade_cadastre', 'anncsu_addresses', 'istat_comuni', 'istat_boundaries', 'dpc_seismic'];

/** Writes the entries of a zip as files. @returns the paths of the entries */
async function unpack(from: string, into: string): Promise<string[]> {
  const zip = await ZipArchive.open(from);
  for (const { path } of zip.entries) await writeFile(join(into, path), await zip.buffer(path));
  await zip.close();
  return zip.entries.map(({ path }) => path);
}

const withoutOneParcel = (path: string, content: Buffer): Buffer => (path.endsWith('_ple.gml') ? Buffer.from(content.toString('utf8').replace(/<wfs:member>[\s\S]*?<\/wfs:member>\s*/, '')) : content);

describeDatabase('files of a region', (engine) => {
  let made: Awaited<ReturnType<typeof syntheticFiles>>;
  let folder: string;
  let context: Context;
  const at = (name: string): string => join(folder, name);
  const load = (more: Parameters<typeof loadOptions>[2] = {}, regions: readonly number[] | null = [MOLISE]): Promise<RefreshReport> =>
    refresh(context, loadOptions([folder], regions, more));
  const codes = ({ failures }: RefreshReport): string[] => failures.map(({ code, exitCode }) => `${code} ${exitCode}`);
  const one = async <T>(sql: string, parameters: readonly unknown[] = []): Promise<T> => (await context.database.query<Record<string, unknown>>(sql, parameters))[0]!['v'] as T;
  const parcels = (): Promise<number> => one('select count(*)::int4 as v from core.parcel');
  /** Expected number of parcels. In addition to the region's parcels, the cadastre's file contains one malformed parcel, which the load repairs. */
  const whole = (): number => made.region.parcelCount + 1;
  /** Copies only these files of the region into the folder. */
  const only = async (...patterns: RegExp[]): Promise<void> => {
    for (const name of await readdir(made.folder)) if (patterns.some((pattern) => pattern.test(name))) await copyFile(join(made.folder, name), at(name));
  };
  /** Adds a parcel of comune Z001 to the document of comune Z002, so that the parcel is also in an unchanged document. */
  const repeatParcel = async (): Promise<void> => {
    let stolen = '';
    await rewriteZip(at('MOLISE.zip'), (path, content) => {
      if (path.includes('/Z001_') && path.endsWith('_ple.gml')) stolen = /<wfs:member>[\s\S]*?<\/wfs:member>\s*/.exec(content.toString('utf8'))![0];
      return content;
    }, { modified: '2026-08-01' });
    await rewriteZip(at('MOLISE.zip'), (path, content) => (path.includes('/Z002_') && path.endsWith('_ple.gml') ? Buffer.from(content.toString('utf8').replace('<wfs:member>', `${stolen}<wfs:member>`)) : content), { modified: '2026-08-02' });
  };
  /** Adds a second file of Molise with the same day and different content. Molise can then not be built. */
  const contradictMolise = async (): Promise<void> => {
    await mkdir(at('again'));
    await rewriteZip(at('MOLISE.zip'), withoutOneParcel, { into: at('again/MOLISE.zip'), modified: '2026-07-01' });
  };
  /** Loads Molise and Abruzzo with the same parcels, and a seismic grid of both regions. Without a list of comuni, two regions may have the same comune. */
  const loadTwoRegions = async (): Promise<void> => {
    const national = await syntheticFiles(200, 11, { only: ['ade_cadastre', 'ingv_mps04'] });
    try {
      for (const name of await readdir(national.folder)) await copyFile(join(national.folder, name), at(name));
    } finally {
      await national.remove();
    }
    await copyFile(at('MOLISE.zip'), at('ABRUZZO.zip'));
    expect(codes(await load({}, null))).toEqual([]);
  };
  const LISTS = [/^Elenco/, /^comuni-sopp/];

  beforeAll(async () => {
    made = await syntheticFiles(300, 4, { only: SOURCES, comuni: 4 });
  });
  afterAll(() => made.remove());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mappale-partial-'));
    context = await freshContext(engine);
  });

  it('are both published if they are CB.zip and IS.zip of different days, and a newer zip of a comune replaces only that comune', async () => {
    await only(/^MOLISE/, ...LISTS);
    const names = await unpack(at('MOLISE.zip'), folder);
    expect(names).toEqual(['CB.zip', 'IS.zip']);
    await rm(at('MOLISE.zip'));
    await rewriteZip(at('IS.zip'), undefined, { modified: '2026-08-15' });
    expect(codes(await load())).toEqual([]);
    expect(await parcels()).toBe(whole());
    const [comune] = await unpack(at('CB.zip'), folder);
    await rewriteZip(at(comune!), withoutOneParcel, { modified: '2026-09-01' });
    for (const name of await readdir(folder)) if (/^Z\d{3}_/.test(name) && name !== comune) await rm(at(name));
    expect(codes(await load())).toEqual([]);
    expect(await parcels()).toBe(whole() - 1);
  });

  it('give their region an area if boundaries are added later', async () => {
    await only(/^MOLISE/, ...LISTS);
    expect(codes(await load())).toEqual([]);
    await only(/^Limiti/);
    expect(codes(await load())).toEqual([]);
    expect(await one('select count(*)::int4 as v from core.region where area_km2 is not null')).toBeGreaterThan(0);
  });

  it('are loaded with one row per cadastral reference, even if a duplicate parcel is in a member reused from an earlier release', async () => {
    await only(/^MOLISE/, ...LISTS);
    expect(codes(await load())).toEqual([]);
    await repeatParcel();
    const report = await load();
    expect(codes(report)).toEqual([]);
    expect(await parcels()).toBe(whole());
    const fresh = await freshContext(engine);
    expect((await refresh(fresh, loadOptions([folder], [MOLISE]))).failures).toEqual([]);
    const digest = async (of: Context): Promise<string> => (await publishedTables(of.database, MOLISE)).get('core.parcel')!.digest;
    expect(await digest(context)).toBe(await digest(fresh));
  });

  it('leave no workspace if reused members are read again, or if a release with reused members cannot be loaded', async () => {
    const workspaces = (): Promise<unknown[]> => context.database.query("select nspname from pg_namespace where starts_with(nspname, 'staging_')");
    const members = (condition: string): Promise<number> => one(
      `select count(*)::int4 as v from ledger.member where release_id = (select max(release_id) from ledger.release) and ${condition}`,
    );
    await only(/^MOLISE/, ...LISTS);
    expect(codes(await load())).toEqual([]);
    await repeatParcel();
    expect(codes(await load())).toEqual([]);
    expect(await members("path like '%/Z001\\_%\\_ple.gml' and taken_from is null")).toBe(1);
    expect(await workspaces()).toEqual([]);
    // Every polygon of a comune becomes a line, which is rejected after the release was staged.
    await rewriteZip(at('MOLISE.zip'), (path, content) => (!path.includes('/Z003_') || !path.endsWith('_ple.gml') ? content : Buffer.from(
      content.toString('utf8').replace(/(<gml:posList[^>]*>)([^<]*)</g, (_all, tag: string, list: string) => {
        const [a, b, c, d] = list.trim().split(/\s+/);
        return `${tag}${[a, b, c, d, a, b].join(' ')}<`;
      }),
    )), { modified: '2026-08-03' });
    expect(codes(await load())).toEqual(['TOO_MANY_REJECTS 4']);
    expect(await members('row_release_id is not null')).toBeGreaterThan(0);
    expect(await workspaces()).toEqual([]);
  });

  it('are not published again after a rollback until the user releases the hold, or while the region is pinned or withdrawn', async () => {
    await only(/^MOLISE/, ...LISTS);
    await load();
    await rewriteZip(at('MOLISE.zip'), withoutOneParcel, { modified: '2026-08-01' });
    await load();
    const after = await parcels();
    await rollback(context.database, MOLISE, await openRun(context.database));
    const before = await parcels();
    expect(before).toBeGreaterThan(after);
    const again = await load();
    expect([again.runId, codes(again)]).toEqual([null, []]);
    expect(await parcels()).toBe(before);
    expect((await preview(context, loadOptions([folder], [MOLISE]))).plan.held.join()).toMatch(/Molise was rolled back by .*unpin/);
    expect(await releaseHold(context.database, MOLISE, null)).toBe(true);
    await load();
    expect(await parcels()).toBe(after);
    // In a pinned region, new files have no effect. A withdrawn region is not served, and rollback restores the region.
    await setHold(context.database, { region: MOLISE, kind: 'pinned', fingerprint: null, reason: 'a test' }, 'test');
    await rewriteZip(at('MOLISE.zip'), withoutOneParcel, { modified: '2026-08-09' });
    await load();
    expect(await parcels()).toBe(after);
    await releaseHold(context.database, MOLISE, null);
    await withdraw(context.database, MOLISE, await openRun(context.database), null);
    expect(await parcels()).toBe(0);
    expect((await load()).held.join()).toMatch(/withdrawn/);
    expect(await parcels()).toBe(0);
    await rollback(context.database, MOLISE, await openRun(context.database));
    expect(await parcels()).toBe(after);
  });

  it('are published in the transaction that releases the hold of a rollback', async () => {
    await only(/^MOLISE/, ...LISTS);
    await load();
    await rewriteZip(at('MOLISE.zip'), withoutOneParcel, { modified: '2026-08-01' });
    await load();
    await rollback(context.database, MOLISE, await openRun(context.database));
    const before = await parcels();
    await rewriteZip(at('MOLISE.zip'), withoutOneParcel, { modified: '2026-08-02' });
    await context.database.session((session) => session.script(
      `create function public.keep_hold() returns trigger language plpgsql as $$ begin raise 'the hold stays'; end $$;
       create trigger keep_hold before delete on ledger.hold for each row execute function public.keep_hold()`, 'test'));
    await expect(load()).rejects.toThrow('the hold stays');
    expect(await parcels()).toBe(before);
    expect((await holds(context.database)).get(MOLISE)?.kind).toBe('rolled_back');
    await context.database.query('drop trigger keep_hold on ledger.hold');
    expect(codes(await load())).toEqual([]);
    expect(await parcels()).toBeLessThan(before);
    expect((await holds(context.database)).has(MOLISE)).toBe(false);
  });

  it('are published for each region that ITALIA.zip contains', async () => {
    await only(/^MOLISE/, ...LISTS);
    await writeZip(at('ITALIA.zip'), [['MOLISE.zip', await readFile(at('MOLISE.zip')), { modified: '2026-07-01' }]]);
    await rm(at('MOLISE.zip'));
    const report = await load({}, null);
    expect(codes(report)).toEqual([]);
    expect(report.units.map(({ unit }) => unit)).toEqual([0, MOLISE]);
    expect(await parcels()).toBe(whole());
  });

  it('are published if they contain addresses but no parcels, and a region for which they contain neither fails with exit code 3', async () => {
    await only(/^indirizzario/, ...LISTS);
    expect(codes(await load())).toEqual([]);
    expect(await one('select count(*)::int4 as v from core.access_point')).toBeGreaterThan(10);
    const nothing = await load({}, [18]);
    expect(codes(nothing)).toEqual(['NO_PARCELS 3']);
    expect(exitCodeOf(nothing)).toBe(3);
    expect((await publishedTables(context.database, 18)).size).toBe(0);
  });

  it('give no parcels if the cadastre file is named after Trentino-Alto Adige, whose provinces keep their own land registers', async () => {
    await only(/^MOLISE/);
    await rename(at('MOLISE.zip'), at('TRENTINO-ALTO-ADIGE.zip'));
    expect(codes(await load({}, null))).toEqual(['NO_PARCELS 3']);
    expect((await publishedTables(context.database, 4)).size).toBe(0);
  });

  it('name the comuni if the list of comuni is missing, and the summary reports the missing list', async () => {
    await only(/^MOLISE/);
    const report = await load();
    expect(codes(report)).toEqual([]);
    expect((await publishedTables(context.database, 0)).size).toBe(0);
    expect(report.units[0]!.notes.join()).toMatch(/without the list of comuni/);
    const [found] = await queryRecords<{ municipality: unknown }>(context.database, "select api.municipality('Z001', null::core.parcel) as municipality");
    expect(found!.municipality).toMatchObject({ code: 'Z001', name: expect.stringMatching(/^Castel/), region: 'Molise', province: null });
    // If the list cannot be read, the tables of Italy (unit 0) stay unchanged.
    await writeFile(at('Elenco-comuni-italiani.csv'), 'an error page');
    expect(exitCodeOf(await load())).toBe(3);
    expect((await publishedTables(context.database, 0)).size).toBe(0);
  });

  it('publish the parcels of a comune that is unlisted or listed in another region, and report their number', async () => {
    await only(/^MOLISE/, /^Elenco/);
    const list = await readFile(at('Elenco-comuni-italiani.csv'), 'latin1');
    const lines = list.split('\n');
    const gone = lines.findIndex((line) => line.includes(';Z002;'));
    const moved = lines.findIndex((line) => line.includes(';Z003;'));
    lines[moved] = lines[moved]!.replace(/^14;/, '13;').replaceAll(';Molise;', ';Abruzzo;');
    lines.splice(gone, 1);
    await writeFile(at('Elenco-comuni-italiani.csv'), lines.join('\n'), 'latin1');
    const report = await load();
    expect(codes(report)).toEqual([]);
    expect(await parcels()).toBe(whole());
    const notes = report.units.find(({ unit }) => unit === MOLISE)!.notes;
    expect(notes.find((note) => note.includes('Z002'))).toMatch(/Z002 .*\d+ parcels.* not in the list of comuni/);
    expect(notes.find((note) => note.includes('Z003'))).toMatch(/Z003 .*\d+ parcels.* another region \(13\)/);
  });

  it('are published if the list of comuni has a new comune without a cadastral code, and the reject states the reason', async () => {
    await only(/^MOLISE/, /^Limiti/, ...LISTS);
    const name = (await readdir(folder)).find((each) => each.startsWith('Elenco'))!;
    const lines = (await readFile(at(name), 'latin1')).trimEnd().split('\r\n');
    const added = (code: string, cadastral: string): string => lines.at(-1)!.split(';').map((cell) => (/^Z\d{3}$/.test(cell) ? cadastral : /^\d{6}$/.test(cell) ? code : cell)).join(';');
    await writeFile(at(name), [...lines, added('070998', 'N.d.'), added('070999', ''), ''].join('\r\n'), 'latin1');
    const report = await load();
    expect([codes(report), exitCodeOf(report)]).toEqual([[], 0]);
    expect(await parcels()).toBe(whole());
    expect(await context.database.query('select code, message from ledger.reject where code like $1 order by position', ['belfiore%'])).toEqual(['N.d.', ''].map((found) => (
      { code: 'belfiore_invalid', message: `belfiore: the new comune has no cadastral code yet, and so no parcels. Expected a letter and three digits, found "${found}"` }
    )));
  });

  it('are refused if there is only the zip of one comune and no list of comuni, unless the command names the region', async () => {
    await only(/^MOLISE/);
    await unpack(at('MOLISE.zip'), folder);
    const [comune] = await unpack(at('IS.zip'), folder);
    for (const name of await readdir(folder)) if (name !== comune) await rm(at(name));
    const refused = await load({}, null);
    expect(codes(refused)[0]).toBe('COMUNE_REGION_UNKNOWN 3');
    expect(codes(await load())).toEqual([]);
    expect(await parcels()).toBeGreaterThan(0);
    expect((await load()).runId).toBeNull();
  });

  it('give the streets of the newest STRAD and the addresses of the newest INDIR, even if INDIR is the only file', async () => {
    const later = async (kind: 'stradario' | 'indirizzario'): Promise<void> => {
      const name = (await readdir(folder)).find((each) => each.startsWith(kind))!;
      const later = (of: string): string => of.replace(/\d{8}/, '20260803');
      await rewriteZip(at(name), (_path, content) => Buffer.from(content.toString('utf8').replaceAll('VIA ', 'VIALE ')), { into: at(later(name)), renamed: later });
      await rm(at(name));
    };
    const streets = (): Promise<number> => one('select count(*)::int4 as v from core.street');
    const avenues = (): Promise<number> => one("select count(*)::int4 as v from core.street where odonimo like 'VIALE %'");
    await only(/^indirizzario/, ...LISTS);
    expect(codes(await load())).toEqual([]);
    const alone = await streets();
    await only(/^stradario/);
    await later('stradario');
    expect(codes(await load({ accept: { who: 'test', why: 'streets were renamed' } }))).toEqual([]);
    expect(await streets()).toBeGreaterThanOrEqual(alone);
    expect(await avenues()).toBeGreaterThan(0);
    await rm(at((await readdir(folder)).find((each) => each.startsWith('stradario'))!));
    await only(/^stradario/);
    await later('indirizzario');
    expect(codes(await load({ accept: { who: 'test', why: 'streets were renamed' } }))).toEqual([]);
    expect(await avenues()).toBeGreaterThan(0);
  });

  it('stay current and are reported if they were removed from the folder, until they are forgotten', async () => {
    await only(/^MOLISE/, /^classificazione/, ...LISTS);
    expect(codes(await load())).toEqual([]);
    const zones = (): Promise<number> => one('select count(*)::int4 as v from section.risk where seismic_zone is not null');
    const before = await zones();
    const name = (await readdir(folder)).find((each) => each.startsWith('classificazione'))!;
    await rename(at(name), `${folder}-aside.csv`);
    expect((await preview(context, loadOptions([folder], [MOLISE]))).plan.left.map((file) => file.name)).toEqual([name]);
    expect(codes(await load())).toEqual([]);
    expect(await zones()).toBe(before);
    const refused = await forget(context, name);
    expect(refused.report.failures.map(({ exitCode }) => exitCode)).toEqual([5]);
    expect(await zones()).toBe(before);
    expect((await forget(context, name, { reason: 'a test', accept: { who: 'test', why: 'a test' } })).report.failures).toEqual([]);
    expect(await zones()).toBe(0);
    await expect(load({}, [MOLISE]).then(() => refresh(context, loadOptions([`${folder}-nowhere`], [MOLISE])))).rejects.toMatchObject({ code: 'DATA_MISSING', exitCode: 2 });
    const empty = await mkdtemp(join(tmpdir(), 'mappale-empty-'));
    await expect(refresh(context, loadOptions([empty], [MOLISE]))).rejects.toMatchObject({ code: 'DATA_EMPTY', exitCode: 2 });
  });

  it('stay forgotten if they return to the folder after prune, until forget --undo', async () => {
    // The publication of Italy cites all files of its time. The file therefore arrives after that publication.
    for (const names of [[/^MOLISE/, ...LISTS], [/^classificazione/]]) {
      await only(...names);
      expect(codes(await load())).toEqual([]);
    }
    const zones = (): Promise<number> => one('select count(*)::int4 as v from section.risk where seismic_zone is not null');
    const before = await zones();
    const name = (await readdir(folder)).find((each) => each.startsWith('classificazione'))!;
    const accept = { who: 'test', why: 'a test' };
    await rename(at(name), `${folder}-aside.csv`);
    expect(codes((await forget(context, name, { accept })).report)).toEqual([]);
    // After two further publications, no publication uses the forgotten file.
    for (const day of ['2026-08-01', '2026-08-02']) {
      await rewriteZip(at('MOLISE.zip'), withoutOneParcel, { modified: day });
      expect(codes(await load())).toEqual([]);
    }
    await prune(context.database, context.sources);
    await rename(`${folder}-aside.csv`, at(name));
    expect(codes(await load())).toEqual([]);
    expect(await zones()).toBe(0);
    expect(codes((await forget(context, name, { undo: true, accept })).report)).toEqual([]);
    expect(await zones()).toBeGreaterThan(before - 10);
  });

  it('keep the time and the reason of forget if forget --undo fails', async () => {
    await only(/^MOLISE/, /^classificazione/, ...LISTS);
    expect(codes(await load())).toEqual([]);
    const name = (await readdir(folder)).find((each) => each.startsWith('classificazione'))!;
    expect((await forget(context, name, { reason: 'a test', accept: { who: 'test', why: 'a test' } })).report.failures).toEqual([]);
    await contradictMolise();
    expect(codes(await load())).toEqual(['FILES_CONTRADICT 3']);
    const state = (): Promise<unknown[]> => context.database.query('select forgotten_at::text, forgotten_reason from ledger.file where forgotten_at is not null');
    const before = await state();
    expect(before).toEqual([{ forgotten_at: expect.any(String), forgotten_reason: 'a test' }]);
    expect(codes((await forget(context, name, { undo: true })).report)).toEqual(['FILES_CONTRADICT 3']);
    expect(await state()).toEqual(before);
  });

  it('are used again in all regions if forget fails in one of the regions', async () => {
    await loadTwoRegions();
    const mapped = (): Promise<unknown[]> => context.database.query(
      'select core.region_of(fid)::int4 as region, count(*) filter (where pga_g is not null)::int4 as n from section.risk group by 1 order by 1',
    );
    const before = await mapped();
    expect(before).toEqual([{ region: ABRUZZO, n: expect.any(Number) }, { region: MOLISE, n: expect.any(Number) }]);
    await contradictMolise();
    expect(codes(await load({}, null))).toEqual(['FILES_CONTRADICT 3']);
    const { report, restored } = await forget(context, 'italia_ag_002_txt.zip', { accept: { who: 'test', why: 'a test' } });
    expect(codes(report)).toEqual(['FILES_CONTRADICT 3']);
    expect([report.units.map(({ unit }) => unit), restored]).toEqual([[ABRUZZO], [ABRUZZO]]);
    expect(await mapped()).toEqual(before);
    expect(await context.database.query('select unit_code from ledger.hold')).toEqual([]);
    expect(await context.database.query('select name from ledger.file where forgotten_at is not null')).toEqual([]);
  });

  it('leave a rolled back region on its publication and keep the hold if forget fails in a different region', async () => {
    await loadTwoRegions();
    const state = async (): Promise<unknown[]> => [
      ...await context.database.query('select core.region_of(fid)::int4 as region, count(*)::int4 as parcels, count(pga_g)::int4 as mapped from core.parcel left join section.risk using (fid) group by 1 order by 1'),
      ...await context.database.query("select unit_code::int4 as region, kind, fingerprint, reason, held_by, date_trunc('second', held_at) as held_at from ledger.hold order by 1"),
    ];
    await rewriteZip(at('ABRUZZO.zip'), withoutOneParcel, { modified: '2026-08-01' });
    expect(codes(await load({}, null))).toEqual([]);
    await rollback(context.database, ABRUZZO, await openRun(context.database));
    await context.database.query("update ledger.hold set held_by = 'ada@desk', held_at = '2026-05-01T10:00:00Z'");
    await contradictMolise();
    expect(codes(await load({}, null))).toEqual(['FILES_CONTRADICT 3']);
    const before = await state();
    const { report } = await forget(context, 'italia_ag_002_txt.zip', { accept: { who: 'test', why: 'a test' } });
    expect(codes(report)).toEqual(['FILES_CONTRADICT 3']);
    expect(await state()).toEqual(before);
    expect((await preview(context, loadOptions([folder], [ABRUZZO]))).plan.held.join()).toMatch(/Abruzzo was rolled back by .*unpin/);
  });

  it('leave a region unchanged if a user pins the region while forget runs and forget fails in a different region', async () => {
    await loadTwoRegions();
    await contradictMolise();
    expect(codes(await load({}, null))).toEqual(['FILES_CONTRADICT 3']);
    let pinned: Promise<void> | undefined;
    const log = { ...context.log, info: (message: string) => {
      if (message.startsWith('Abruzzo: published as')) pinned = setHold(context.database, { region: ABRUZZO, kind: 'pinned', fingerprint: null, reason: 'a test' }, 'test');
    } };
    const { report, restored } = await forget({ ...context, log }, 'italia_ag_002_txt.zip', { accept: { who: 'test', why: 'a test' } });
    await pinned;
    expect([codes(report), restored, report.held]).toEqual([['FILES_CONTRADICT 3'], [], [expect.stringMatching(/^Abruzzo is pinned by .*: a test/)]]);
    const current = report.units.find(({ unit }) => unit === ABRUZZO)!.publicationId;
    expect(await context.database.query("select publication_id as id from ledger.publication where unit_code = $1 and state = 'current'", [ABRUZZO])).toEqual([{ id: current }]);
    expect(await context.database.query('select unit_code::int4 as region, kind from ledger.hold')).toEqual([{ region: ABRUZZO, kind: 'pinned' }]);
  });

  it('are used again, through the quality gate, in a region whose first publication was made by a forget that fails in a different region', async () => {
    await setHold(context.database, { region: ABRUZZO, kind: 'pinned', fingerprint: null, reason: null }, 'test');
    await loadTwoRegions();
    await contradictMolise();
    expect(codes(await load({}, null))).toEqual(['FILES_CONTRADICT 3']);
    await releaseHold(context.database, ABRUZZO, null);
    const { report, restored } = await forget(context, 'italia_ag_002_txt.zip', { accept: { who: 'test', why: 'a test' } });
    expect([codes(report), report.units.map(({ unit }) => unit), restored]).toEqual([['FILES_CONTRADICT 3'], [ABRUZZO, ABRUZZO], []]);
    expect(await context.database.query('select state, accepted from ledger.publication where unit_code = $1 order by publication_id', [ABRUZZO]))
      .toEqual([{ state: 'previous', accepted: null }, { state: 'current', accepted: null }]);
    expect(await one('select count(pga_g)::int4 as v from section.risk where core.region_of(fid) = $1', [ABRUZZO])).toBeGreaterThan(0);
  });

  it('keep the pin of a region that is pinned when a rollback ends', async () => {
    await only(/^MOLISE/, ...LISTS);
    await load();
    const before = await parcels();
    await rewriteZip(at('MOLISE.zip'), withoutOneParcel, { modified: '2026-08-01' });
    await load();
    await setHold(context.database, { region: MOLISE, kind: 'pinned', fingerprint: null, reason: 'a test' }, 'test');
    await rollback(context.database, MOLISE, await openRun(context.database));
    expect(await parcels()).toBe(before);
    expect((await holds(context.database)).get(MOLISE)).toMatchObject({ kind: 'pinned', fingerprint: null, reason: 'a test' });
  });

  it('are not published if two have the same age and different content, and the error names both files', async () => {
    await only(/^MOLISE/, ...LISTS);
    expect(codes(await load())).toEqual([]);
    await contradictMolise();
    const report = await load();
    expect(codes(report)).toEqual(['FILES_CONTRADICT 3']);
    expect(report.failures[0]!.at).toBe('MOLISE.zip, MOLISE.zip');
    expect(await parcels()).toBe(whole());
    await rm(at('MOLISE.zip'));
    expect(codes(await load())).toEqual([]);
    expect(await parcels()).toBeLessThan(whole());
  });

  it('are reused if they are unchanged members of a zipped vector file', async () => {
    await only(/^MOLISE/, /^Limiti/, ...LISTS);
    await load();
    // The publisher adds a readme file. The zip changes, but its layers do not.
    const name = (await readdir(folder)).find((each) => each.startsWith('Limiti'))!;
    const zip = await ZipArchive.open(at(name));
    await writeZip(at('new.zip'), (async function* (): AsyncGenerator<ZipEntry> {
      for (const { path, modified } of zip.entries) yield [path, await zip.buffer(path), { modified }];
      yield ['leggimi.txt', 'note', { modified: '2026-09-01' }];
    })());
    await zip.close();
    await rename(at('new.zip'), at(name));
    expect(codes(await load())).toEqual([]);
    expect(await one("select count(*)::int4 as v from ledger.member m join ledger.release r using (release_id) where r.source_id = 'istat_boundaries' and m.taken_from is not null")).toBeGreaterThan(0);
  });
});
