/** Tests the plan of a refresh with plain objects, without a database, files or a clock. */
import { describe, expect, it } from 'vitest';
import { loadSources, type RegisteredSource } from '../../pipelines/contract/registry.ts';
import type { Located, LocatedFile, Survey } from '../../pipelines/contract/survey.ts';
import type { Experience } from '../../pipelines/ledger/experience.ts';
import type { FilePlaces, LoadedFile } from '../../pipelines/ledger/current-files.ts';
import type { Hold } from '../../pipelines/ledger/hold.ts';
import { Inventory } from '../../pipelines/ledger/inventory.ts';
import type { PublishedTable } from '../../pipelines/ledger/published.ts';
import { isDone, plan, staleOf, type Known, type Plan } from '../../pipelines/plan/plan.ts';
import { price, refuseWithoutRoom } from '../../pipelines/plan/price.ts';
import { productsDigest } from '../../pipelines/plan/products.ts';
import { staleTables } from '../../pipelines/plan/ways.ts';

const MOLISE = 14;
const SOURCES = await loadSources();
const PARCELS = SOURCES.find(({ layer }) => layer.writes.includes('layer.cadastral_parcel'))!;
const ENGINE = { PostgreSQL: '15' };
const NOTHING: Experience = { bySource: new Map(), all: null, perParcel: null, parcels: new Map(), embedded: false, freeBytes: null };

function located(source: RegisteredSource, name: string, more: Partial<LocatedFile['recognition']> = {}): Located {
  const recognition = { role: 'zip', vintage: '2026-01-01', region: MOLISE, complete: true, ...more };
  const file: LocatedFile = { path: `/data/${name}`, name, size: 4_000_000, parts: [], sha256: `sha of ${name}`, recognition };
  return { source, vintage: recognition.vintage, region: recognition.region, complete: recognition.complete, files: [file], content: `content of ${name}` };
}

function survey(...releases: Located[]): Survey {
  return { releases, aside: [], unknown: [], broken: [] };
}

/** Returns the inventory that the ledger has after the releases were read. */
function loaded(releases: readonly Located[], more: Partial<LoadedFile> = {}): Inventory {
  const held = ({ source }: Located): FilePlaces[] => source.layer.writes.map((layer) => ({
    layer: layer.slice('layer.'.length), series: '', region: null, likelyRegion: null, dated: null, named: true, places: ['H833'],
  }));
  const files = releases.flatMap((release, index) =>
    release.files.map(({ name, sha256, recognition: { role, vintage, dated, region, complete, place } }): LoadedFile => ({
      fileId: index + 1,
      releaseId: index + 1,
      sourceId: release.source.id,
      role,
      vintage,
      dated: dated ?? null,
      region,
      complete,
      place: place ?? null,
      assigned: null,
      name,
      sha256,
      reader: release.source.reader,
      present: true,
      arrived: 1,
      forgotten: false,
      refersTo: [],
      held: held(release),
      ...more,
    })),
  );
  return new Inventory(files, releases.map((release, index) => ({
    releaseId: index + 1, sourceId: release.source.id, vintage: release.vintage, region: release.region, fingerprint: `${index}`, complete: release.complete, state: 'loaded',
    records: 1, rows: 1, rejects: 0, duplicates: 0, layers: {}, inputs: release.source.facts,
  })), new Map([['H833', MOLISE]]), SOURCES);
}

function known(inventory: Inventory, more: Partial<Known> = {}): Known {
  return { sources: SOURCES, engine: ENGINE, inventory, holds: new Map(), published: new Map(), ...more };
}

/** Returns the publications after a plan was executed. */
function published({ builds }: Plan): Known['published'] {
  return new Map(builds.map(({ region, products }) => [region, new Map(products.map(({ relation, fingerprint, inputs }): [typeof relation, PublishedTable] => [
    relation, { relation, partition: `${relation}_${region}`, heldIn: `${relation}_${region}`, currentTable: `${relation}_${region}`, fingerprint, inputs, rows: 1_000, digest: 'd' },
  ]))]));
}

const zip = located(PARCELS, 'MOLISE.zip');

describe('a plan', () => {
  it('has nothing to do for an empty database and an empty folder', () => {
    const found = plan(known(loaded([])), survey(), null);
    expect([found.loads, found.builds, found.unused]).toEqual([[], [], []]);
    expect(isDone(found)).toBe(true);
  });

  it('reads a file that is not loaded, and builds the file\'s region', () => {
    const found = plan(known(loaded([])), survey(zip), null);
    expect(found.loads.map(({ located: { source }, why }) => [source.id, why])).toEqual([[PARCELS.id, 'not loaded yet']]);
    expect(found.builds.map(({ region }) => region)).toEqual([MOLISE]);
    expect(staleOf(found.builds[0]!.products).map(({ relation }) => relation)).toContain('core.parcel');
    expect(found.builds[0]!.missing).not.toContain('layer.cadastral_parcel');
  });

  it('reads no files of regions that are not requested, and reports these files as unused', () => {
    const found = plan(known(loaded([])), survey(zip), [15]);
    expect(found.loads).toEqual([]);
    expect(found.unused).toEqual([{ path: '/data/MOLISE.zip', source: PARCELS.id, reason: 'belongs to Molise, which was not requested' }]);
  });

  it('has nothing left to do if the publication was built from the loaded files, with or without a folder', () => {
    const inventory = loaded([zip]);
    const state = known(inventory, { published: published(plan(known(inventory), survey(zip), null)) });
    for (const folder of [survey(zip), null]) expect(isDone(plan(state, folder, null))).toBe(true);
  });

  it('is the same before and after its files are loaded, except for the list of files to read', () => {
    const before = plan(known(loaded([])), survey(zip), null);
    const after = plan(known(loaded([zip])), null, null);
    expect(after.loads).toEqual([]);
    const staleBuilds = ({ builds }: Plan): unknown => builds.map(({ region, products }) => [region, staleOf(products)]);
    expect(staleBuilds(after)).toEqual(staleBuilds(before));
  });

  it('rebuilds tables that a different PostgreSQL version built, and names both versions', () => {
    const inventory = loaded([zip]);
    const state = known(inventory, { published: published(plan(known(inventory), null, null)), engine: { PostgreSQL: '16' } });
    const { builds: [build] } = plan(state, null, null);
    expect(new Set(staleOf(build!.products).map(({ why }) => why.split(';')[0]))).toEqual(new Set(['PostgreSQL 15 → 16']));
  });

  it('for a new file of parcels patches tables of parcels, compares tables of areas, builds other tables whole (on several nodes all tables), and states the reasons', () => {
    const inventory = loaded([zip]);
    const state = known(inventory, { published: published(plan(known(inventory), null, null)) });
    const { builds: [build] } = plan(state, survey({ ...zip, files: [{ ...zip.files[0]!, sha256: 'another' }], content: 'another' }), null);
    const tables = new Map(staleTables(build!, { distributed: false }).map(({ relation, way, whole }) => [relation, [way, whole]]));
    expect(tables.get('core.parcel')).toEqual(['patch', null]);
    expect(tables.get('section.risk')).toEqual(['patch', null]);
    expect(tables.get('core.coverage')).toEqual(['compare', null]);
    expect(tables.get('core.sheet')).toEqual(['whole', 'each row may depend on all rows of the inputs']);
    expect(tables.get('core.comune_found')).toEqual(['whole', 'any row may depend on core.parcel']);
    const distributed = staleTables(build!, { distributed: true });
    expect(distributed.map(({ relation }) => relation)).toEqual([...tables.keys()]);
    expect(new Set(distributed.map(({ way, whole }) => `${way}: ${whole ?? ''}`))).toEqual(new Set(['whole: the tables are on several nodes']));
    // The tables of Italy are on one node.
    expect(staleTables({ ...build!, region: 0 }, { distributed: true })).toEqual(staleTables({ ...build!, region: 0 }, { distributed: false }));
  });

  it('builds tables whole if they are not published or a different PostgreSQL version built them', () => {
    const inventory = loaded([zip]);
    const first = plan(known(inventory), null, null);
    const reasons = ({ builds: [build] }: Plan): Set<string> => new Set(staleTables(build!, { distributed: false }).map(({ way, whole }) => `${way}: ${whole ?? ''}`));
    expect(reasons(first)).toEqual(new Set(['whole: not published yet']));
    const newer = plan(known(inventory, { published: published(first), engine: { PostgreSQL: '16' } }), null, null);
    expect([...reasons(newer)].filter((each) => !/^whole: (any row may depend on PostgreSQL(, |$)|each row may depend on all rows)/.test(each))).toEqual([]);
  });

  it('detects a new source if the published inputs lack it, and no new source if the ledger has no inputs', () => {
    const inventory = loaded([zip]);
    const first = published(plan(known(inventory), null, null));
    const newIn = (keep: (input: string) => boolean): readonly string[] => {
      const tables = new Map([...first].map(([region, own]) => [region, new Map([...own].map(([relation, table]) => [relation, {
        ...table, fingerprint: '', inputs: Object.fromEntries(Object.entries(table.inputs).filter(([input]) => keep(input))),
      }]))]));
      const { builds } = plan(known(inventory, { published: tables }), null, null);
      return builds.flatMap(({ products }) => products.filter(({ hasNewSource }) => hasNewSource).map(({ relation }) => relation));
    };
    expect(newIn((input) => !input.startsWith(`${PARCELS.id} `))).toContain('core.parcel');
    expect(newIn(() => true)).toEqual([]);
    expect(newIn(() => false)).toEqual([]);
  });

  it('leaves a pinned region unchanged, and a rolled back region until its files change', () => {
    const inventory = loaded([zip]);
    const free = plan(known(inventory), null, null);
    const hold = (kind: Hold['kind'], fingerprint: string | null): Known['holds'] => new Map([[MOLISE, { region: MOLISE, kind, fingerprint, reason: 'wrong prices', heldBy: 'ada@host', heldAt: '2026-05-01T00:00:00Z' }]]);
    for (const holds of [hold('pinned', null), hold('rolled_back', productsDigest(free.builds[0]!.products))]) {
      const found = plan(known(inventory, { holds }), null, null);
      expect(found.builds).toEqual([]);
      expect(found.held.join()).toMatch(/^Molise .* by ada@host on 2026-05-01: wrong prices.*npx mappale unpin molise/);
    }
    expect(plan(known(inventory, { holds: hold('rolled_back', 'built from other files') }), null, null).builds).toHaveLength(1);
  });

  it('lists current files that were removed from the folder, and keeps them current', () => {
    const inventory = loaded([zip]);
    const found = plan(known(inventory, { published: published(plan(known(inventory), null, null)) }), survey(), null);
    expect([found.left.map(({ name }) => name), found.gone, found.present]).toEqual([['MOLISE.zip'], 1, []]);
    expect(isDone(found)).toBe(true);
  });

  it('does not read an older file if a newer file contains all its places', () => {
    const newer = located(PARCELS, 'MOLISE-new.zip', { vintage: '2026-07-01' });
    const found = plan(known(loaded([])), survey(zip, newer), null);
    expect(found.loads.map(({ located: { files } }) => files[0]!.name)).toEqual(['MOLISE-new.zip']);
    expect(found.unused.map(({ reason }) => reason)).toEqual(['MOLISE-new.zip is newer (2026-07-01) and contains all places of this file']);
  });
});

describe('the cost of a plan', () => {
  it('is zero if there is nothing to do', () => {
    expect(price(plan(known(loaded([])), survey(), null), NOTHING)).toMatchObject({ seconds: 0, diskBytes: 0, measured: 1, freeBytes: null });
  });

  it('is estimated from earlier runs, and states the estimated share', () => {
    const found = plan(known(loaded([])), survey(zip), null);
    const guessed = price(found, NOTHING);
    expect(guessed.measured).toBe(0);
    expect(price(found, { ...NOTHING, embedded: true }).seconds).toBeCloseTo(guessed.seconds * 1.5);
    const rate = { bytesPerSecond: 1_000_000, layerPerByte: 10 };
    const measured = price(found, { ...NOTHING, bySource: new Map([[PARCELS.id, rate]]), all: rate, perParcel: { seconds: 0.001, bytes: 500 } });
    // Reading a file of 4 MB takes 4 s. At 200 bytes of nested zip per parcel, the file has 20,000 parcels. Building takes a millisecond per parcel.
    expect(measured).toMatchObject({ seconds: 24, diskBytes: 50_000_000, measured: 1 });
  });

  it('prevents the execution of a plan that would fill the disk, unless the user forces the plan', () => {
    const cost = price(plan(known(loaded([])), survey(zip), null), { ...NOTHING, freeBytes: 1_000_000 });
    expect(() => refuseWithoutRoom(cost, NOTHING, { force: false })).toThrow(expect.objectContaining({ code: 'NO_ROOM' }) as Error);
    expect(() => refuseWithoutRoom(cost, NOTHING, { force: true })).not.toThrow();
  });
});
