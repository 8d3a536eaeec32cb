/** Tests that a refresh rebuilds only stale tables and publishes a region as a whole, and that a rollback restores the previous publication. */
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Violation } from '../../pipelines/build/gate-rule.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { diff } from '../../pipelines/operate/diff.ts';
import { publishedTables } from '../../pipelines/ledger/published.ts';
import { prune } from '../../pipelines/operate/prune.ts';
import { rollback } from '../../pipelines/build/publish.ts';
import { staleOf } from '../../pipelines/plan/plan.ts';
import { preview, refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { openRun } from '../harness/run.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const REGION = 14;

/** Returns the current partition of each published relation of the region. */
async function partitions(context: Context): Promise<Record<string, string>> {
  return Object.fromEntries([...(await publishedTables(context.database, REGION))].map(([relation, { partition }]) => [relation, partition]));
}

async function digests(context: Context): Promise<Record<string, string>> {
  return Object.fromEntries([...(await publishedTables(context.database, REGION))].map(([relation, { digest }]) => [relation, digest]));
}

function changed(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys({ ...before, ...after }).filter((relation) => before[relation] !== after[relation]).sort();
}

async function record(context: Context, reference: string): Promise<string> {
  const [row] = await context.database.query<{ record: unknown }>('select api.parcel(api.parcel_by_reference($1), $2) as record', [reference, SECTION_NAMES]);
  return JSON.stringify(row!.record);
}

describeDatabase('a refresh', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  const options = (more = {}): ReturnType<typeof loadOptions> => loadOptions([files.folder], [REGION], more);
  const path = (name: string): string => join(files.folder, name);

  beforeAll(async () => {
    files = await syntheticFiles(900, 3);
    context = await freshContext(engine);
  });
  afterAll(() => files.remove());

  it('loads a region without one of its sources, and marks the source\'s values as not mapped', async () => {
    await rename(path('italia_ag_002_txt.zip'), `${files.folder}-aside.zip`);
    const report = await refresh(context, options());
    expect(report.failures).toEqual([]);
    expect(report.units.find(({ unit }) => unit === REGION)!.missing).toContain('ingv_mps04');
    const [row] = await context.database.query<{ unmapped: number; parcels: number }>('select count(*) filter (where pga_g is null and not pga_mapped) as unmapped, count(*) as parcels from section.risk');
    expect(row!.unmapped).toBe(row!.parcels);
  });

  it('rebuilds only the sections of a source whose file arrives later', async () => {
    const before = await partitions(context);
    await rename(`${files.folder}-aside.zip`, path('italia_ag_002_txt.zip'));
    const { plan: planned } = await preview(context, options());
    expect(planned.loads.map(({ located }) => located.source.id)).toEqual(['ingv_mps04']);
    expect(staleOf(planned.builds.find(({ region }) => region === REGION)!.products).map(({ relation }) => relation)).toEqual(['section.risk']);
    const report = await refresh(context, options());
    expect(report.failures).toEqual([]);
    expect(changed(before, await partitions(context))).toEqual(['section.risk']);
    const [row] = await context.database.query<{ mapped: number }>('select count(*) filter (where pga_g is not null) as mapped from section.risk');
    expect(row!.mapped).toBeGreaterThan(0);
  });

  it('does nothing and writes nothing if nothing changed', async () => {
    const before = await partitions(context);
    const [runs] = await context.database.query<{ n: number }>('select count(*) as n from ledger.run');
    const report = await refresh(context, options());
    expect(report).toMatchObject({ runId: null, loaded: [], units: [], failures: [] });
    expect(await partitions(context)).toEqual(before);
    const [after] = await context.database.query<{ n: number }>('select count(*) as n from ledger.run');
    expect(after).toEqual(runs);
  });

  it('does not read a file again if the file was renamed and rewritten with the same content', async () => {
    const content = await readFile(path('italia_ag_002_txt.zip'));
    await rename(path('italia_ag_002_txt.zip'), path('moved.zip'));
    await writeFile(path('moved.zip'), content);
    expect((await refresh(context, options())).runId).toBeNull();
  });

  it('can be rolled back, and a second rollback restores the later publication', async () => {
    const after = await partitions(context);
    await rollback(context.database, REGION, await openRun(context.database));
    const before = await partitions(context);
    expect(changed(before, after)).toEqual(['section.risk']);
    const [row] = await context.database.query<{ mapped: number }>('select count(*) filter (where pga_g is not null) as mapped from section.risk');
    expect(row!.mapped).toBe(0);
    await rollback(context.database, REGION, await openRun(context.database));
    expect(await partitions(context)).toEqual(after);
  });

  describe('after a comune of the cadastre changed', () => {
    const gone = 'Z002_';

    it('refuses to publish a comune that lost its parcels, and leaves the region unchanged', async () => {
      const before = await partitions(context);
      const whole = await readFile(path('MOLISE.zip'));
      await rewriteZip(path('MOLISE.zip'), (name, content) => (name.includes(`/${gone}`) ? null : content));
      const report = await refresh(context, options());
      expect(report.failures).toHaveLength(1);
      expect(report.failures[0]).toMatchObject({ code: 'SUSPICIOUS', exitCode: 5 });
      expect(report.failures[0]!.hint).toMatch(/Check the new file: MOLISE\.zip \(ade_cadastre 2026-07-01\)\. If/);
      expect(report.failures[0]!.detail).toMatch(/basic +core\.parcel +Z002 .* rows +\d+ → 0 +−10 %/);
      expect(await partitions(context)).toEqual(before);
      await writeFile(path('MOLISE.zip'), whole);
    });

    it('publishes the loss if the user gives a reason, stores the reason, and retires the lost parcels', async () => {
      const whole = await readFile(path('MOLISE.zip'));
      await rewriteZip(path('MOLISE.zip'), (name, content) => (name.includes(`/${gone}`) ? null : content));
      const report = await refresh(context, options({ accept: { who: 'somebody@somewhere', why: 'the comune was merged' } }));
      expect(report.failures).toEqual([]);
      const [publication] = await context.database.query<{ reason: string; accepted: { who: string; figures: readonly Violation[] } }>("select reason, accepted from ledger.publication where unit_code = $1 and state = 'current'", [REGION]);
      expect(publication).toMatchObject({ reason: 'the comune was merged', accepted: { who: 'somebody@somewhere' } });
      expect(publication!.accepted.figures).toContainEqual(expect.objectContaining({ place: 'MOLISE.zip, without Z002', figure: 'comuni' }));
      const [register] = await context.database.query<{ retired: number; lost: number }>(
        `select count(*) filter (where retired_on is not null) as retired, count(*) filter (where starts_with(reference, 'Z002')) as lost from core.parcel_register where region_code = $1`, [REGION],
      );
      expect(register!.lost).toBeGreaterThan(100);
      expect(register!.retired).toBe(register!.lost);
      const differences = await diff(context.database, REGION);
      expect(differences.find(({ relation }) => relation === 'core.parcel')!.comuni).toEqual([expect.objectContaining({ comune: 'Z002', added: 0, removed: register!.lost, changed: 0 })]);
      await writeFile(path('MOLISE.zip'), whole);
    });

    it('gives parcels that reappear in the cadastre their previous fids', async () => {
      const [fid] = await context.database.query<{ fid: number }>(`select min(fid) as fid from core.parcel_register where region_code = $1 and starts_with(reference, 'Z002')`, [REGION]);
      const report = await refresh(context, options());
      expect(report.failures).toEqual([]);
      const [back] = await context.database.query<{ fid: number; retired: number }>(
        `select min(fid) as fid, count(*) filter (where retired_on is not null) as retired from core.parcel_register where region_code = $1 and starts_with(reference, 'Z002')`, [REGION],
      );
      expect(back).toEqual({ fid: fid!.fid, retired: 0 });
    });

    it('reads only the changed comune again, and keeps all digests if only white space changed', async () => {
      let edited = 0;
      await rewriteZip(path('MOLISE.zip'), (name, content) => {
        if (!name.includes(`/${gone}`) || !name.endsWith('_ple.gml')) return content;
        edited += 1;
        return Buffer.from(content.toString('utf8').replace(/ <\/gml:posList>/, '</gml:posList>'));
      });
      expect(edited).toBe(1);
      const before = await digests(context);
      const report = await refresh(context, options());
      expect(report.failures).toEqual([]);
      const [members] = await context.database.query<{ total: number; read: number }>(
        `select count(*) as total, count(*) filter (where not exists (
           select from ledger.member b where b.path = m.path and b.crc32 = m.crc32 and b.size = m.size and b.release_id < m.release_id)) as read
         from ledger.member m where m.release_id = (select max(release_id) from ledger.release where source_id = 'ade_cadastre')`,
      );
      expect(members!.read).toBe(1);
      expect(members!.total).toBeGreaterThan(4);
      expect(await digests(context)).toEqual(before);
    });
  });

  it('leaves a region unchanged if a release cannot be loaded, and succeeds when the file is repaired', async () => {
    const before = await partitions(context);
    const name = (await import('node:fs')).readdirSync(files.folder).find((file) => /classificazione|sismic/i.test(file))!;
    const good = await readFile(path(name));
    await writeFile(path(name), Buffer.from(good.toString('utf8').replace('ZONA_SISMICA', 'ZONA')));
    const reference = [...files.region.parcels()][0]!.reference;
    const answer = await record(context, reference);
    const report = await refresh(context, options());
    expect(report.failures.length).toBeGreaterThan(0);
    expect(report.failures[0]!.exitCode).toBe(3);
    expect(await partitions(context)).toEqual(before);
    expect(await record(context, reference)).toBe(answer);
    await writeFile(path(name), good);
    expect((await refresh(context, options())).failures).toEqual([]);
  });

  it('can be followed by a prune that keeps only the current and the previous publication', async () => {
    const pruned = await prune(context.database, context.sources);
    expect(pruned.partitions.length).toBeGreaterThan(0);
    const before = await partitions(context);
    await rollback(context.database, REGION, await openRun(context.database));
    await rollback(context.database, REGION, await openRun(context.database));
    expect(await partitions(context)).toEqual(before);
    expect((await refresh(context, options())).runId).toBeNull();
    expect(await prune(context.database, context.sources)).toEqual({ partitions: [], releases: [], workspaces: [], runs: 0, history: null });
  });
});
