/** Tests the parents and children of parcels. The expected values are splits, merges and new numbers that this test writes into the files. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { join } from 'node:path';
import { rollback } from '../../pipelines/build/publish.ts';
import { firstFid } from '../../pipelines/contract/regions.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import { parcelLineage, type Kin, type Lineage } from '../../pipelines/deliver/lineage.ts';
import { withRun } from '../../pipelines/ledger/runs.ts';
import { prune } from '../../pipelines/operate/prune.ts';
import { describeEngines } from '../harness/database.ts';
import { FEW_SOURCES, publish, REGION, smallRegion, type Region } from '../harness/faults/region.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

/** Latitude and longitude in degrees, with the digits of the file. */
type Point = readonly [lat: string, lng: string];

/** Expected overlap of a parent and a child, after a change that this test made. */
interface Truth {
  readonly kind: Kin['kind'];
  readonly parent: string;
  readonly child: string;
  readonly share_of_parent: number;
  readonly share_of_child: number;
  /** Twice the area of the overlap, in square degrees. */
  readonly area: number;
}

/** Returns twice the area of a ring, in square degrees. */
function areaOf(ring: readonly Point[]): number {
  return Math.abs(ring.reduce((sum, [lat, lng], index) => {
    const [nextLat, nextLng] = ring[(index + 1) % ring.length]!;
    return sum + Number(lng) * Number(nextLat) - Number(nextLng) * Number(lat);
  }, 0));
}

function isConvex(ring: readonly Point[]): boolean {
  const turns = ring.map(([lat, lng], index) => {
    const [a, b] = [ring[(index + 1) % ring.length]!, ring[(index + 2) % ring.length]!];
    return Math.sign((Number(a[1]) - Number(lng)) * (Number(b[0]) - Number(a[0])) - (Number(a[0]) - Number(lat)) * (Number(b[1]) - Number(a[1])));
  });
  return new Set(turns).size === 1;
}

const MEMBER = /<wfs:member>[\s\S]*?<\/wfs:member>/g;
const RING = /(<gml:posList[^>]*>)([^<]*)(<\/gml:posList>)/g;

/** A parcel as written in a GML file. */
class Parcel {
  readonly text: string;
  readonly reference: string;
  readonly ring: readonly Point[];

  constructor(text: string) {
    this.text = text;
    this.reference = /<CP:NATIONALCADASTRALREFERENCE>([^<]*)</.exec(text)![1]!;
    const numbers = [...text.matchAll(RING)].flatMap(([, , list]) => list!.trim().split(/\s+/));
    this.ring = Array.from({ length: numbers.length / 2 - 1 }, (_, index) => [numbers[2 * index]!, numbers[2 * index + 1]!]);
  }

  /** Returns whether the parcel is a single convex ring of at least four corners, so that a diagonal divides it in two. */
  get isSimple(): boolean {
    return [...this.text.matchAll(RING)].length === 1 && this.ring.length >= 4 && isConvex(this.ring);
  }

  /** Returns the parcel with a different number or outline. */
  as(label: string | null, ring: readonly Point[] = this.ring): Parcel {
    const reference = label === null ? this.reference : this.reference.replace(/[^.]*$/, label);
    const closed = [...ring, ring[0]!].map((point) => point.join(' ')).join(' ');
    return new Parcel(this.text.replaceAll(this.reference, reference).replace(/<CP:LABEL>[^<]*</, `<CP:LABEL>${reference.split('.').at(-1)!}<`).replace(RING, (_all, head: string, _list, tail: string) => `${head}${closed} ${tail}`));
  }

  /** Returns the rings of both pieces of the parcel if it is cut from its first to its middle corner. */
  get pieces(): readonly [readonly Point[], readonly Point[]] {
    const middle = Math.floor(this.ring.length / 2);
    return [this.ring.slice(0, middle + 1), [...this.ring.slice(middle), this.ring[0]!]];
  }
}

/** Splits a parcel. @param labels numbers of both pieces. The first piece keeps the number of the parcel if its label is null. */
function split(parcel: Parcel, labels: readonly [string | null, string]): { parcels: Parcel[]; truth: Truth[] } {
  const parcels = parcel.pieces.map((ring, index) => parcel.as(labels[index]!, ring));
  const truth = parcels.map(({ reference, ring }) => ({
    kind: 'split' as const, parent: parcel.reference, child: reference, share_of_parent: areaOf(ring) / areaOf(parcel.ring), share_of_child: 1, area: areaOf(ring),
  }));
  return { parcels, truth };
}

/** Splits some parcels of a file and renumbers others. @returns the new text, and the expected overlap of each parent and child */
function edited(text: string): { text: string; truth: Truth[] } {
  const truth: Truth[] = [];
  let turn = 0;
  let added = 0;
  const changed = text.replace(MEMBER, (member) => {
    const parcel = new Parcel(member);
    if (!parcel.isSimple) return member;
    turn += 1;
    if (turn % 5 === 0) {
      const renumbered = parcel.as(`${8000 + turn}`);
      truth.push({ kind: 'renumbered', parent: parcel.reference, child: renumbered.reference, share_of_parent: 1, share_of_child: 1, area: areaOf(parcel.ring) });
      return renumbered.text;
    }
    if (turn % 5 > 2) return member;
    const cut = split(parcel, [turn % 5 === 1 ? null : `${7000 + turn}`, `${9000 + turn}`]);
    truth.push(...cut.truth);
    added += 1;
    return cut.parcels.map((each) => each.text).join('\n    ');
  });
  const counted = changed.replace(/(numberMatched|numberReturned)="(\d+)"/g, (_all, name: string, n: string) => `${name}="${Number(n) + added}"`);
  return { text: counted, truth };
}

/** Returns the overlaps that are expected if the changes are reverted. */
function undone(truth: readonly Truth[]): Truth[] {
  return truth.map(({ kind, parent, child, share_of_parent, share_of_child, area }) => ({
    kind: kind === 'split' ? 'merge' : kind, parent: child, child: parent, share_of_parent: share_of_child, share_of_child: share_of_parent, area,
  }));
}

describeEngines('lineage', (engine) => {
  let region: Region;
  let database: Database;
  let truth: Truth[] = [];

  const lineageOf = async (reference: string): Promise<Lineage> => {
    const { fids } = await one<{ fids: readonly number[] }>(database, 'select fids from api.parcels_of_reference($1)', [[reference]]);
    const found = await parcelLineage(database, fids[0]!);
    if ('refusal' in found) throw new Error(found.refusal);
    return found;
  };
  const lastSwap = async (): Promise<number> => (await one<{ last: number }>(database, 'select max(swap_id) as last from ledger.swap', [])).last;

  /** Expects that parents and children of the last publication have exactly these overlaps, whose shares explain more than 99 % of the area. */
  async function expectTruth(expected: readonly Truth[]): Promise<void> {
    const publication = await lastSwap();
    let [explained, whole] = [0, 0];
    for (const { kind, parent, child, share_of_parent, share_of_child, area } of expected) {
      whole += area;
      const { data: { children } } = await lineageOf(parent);
      const { data: { parents } } = await lineageOf(child);
      const found = children.find((each) => each.publication === publication && each.cadastral_reference === child);
      const back = parents.find((each) => each.publication === publication && each.cadastral_reference === parent);
      expect([found?.kind, back?.kind], `${parent} to ${child}`).toEqual([kind, kind]);
      expect(found).toMatchObject({ share_of_parent: back!.share_of_parent, share_of_child: back!.share_of_child });
      explained += area * Math.min(1, found!.share_of_parent / share_of_parent) * Math.min(1, found!.share_of_child / share_of_child);
      expect(children.filter((each) => each.publication === publication).length).toBe(expected.filter((each) => each.parent === parent).length);
      expect(parents.filter((each) => each.publication === publication).length).toBe(expected.filter((each) => each.child === child).length);
    }
    expect(explained / whole).toBeGreaterThan(0.99);
  }

  const back = (): Promise<unknown> => withRun(
    database, { command: 'rollback', arguments: {}, version: 'test', host: 'test' }, ({ runId }) => rollback(database, REGION, runId),
  );

  beforeAll(async () => {
    region = await smallRegion(FEW_SOURCES);
    database = await engine.openDatabase(await migratedDatabase(engine));
    await publish(database, await region.version(0));
    const folder = await region.version(0);
    await rewriteZip(join(folder, 'MOLISE.zip'), (path, content) => {
      if (!path.includes('/Z002_') || !path.endsWith('_ple.gml')) return content;
      const result = edited(content.toString('utf8'));
      truth = result.truth;
      return Buffer.from(result.text, 'utf8');
    });
    await publish(database, folder);
  });
  afterAll(() => region.remove());

  it('explains 99 % of the area of splits and renumbered parcels', async () => {
    expect(truth.filter(({ kind }) => kind === 'split').length).toBeGreaterThan(20);
    expect(truth.filter(({ kind }) => kind === 'renumbered').length).toBeGreaterThan(5);
    await expectTruth(truth);
  });

  it('explains 99 % of the area if a rollback turns splits into merges, and if a second rollback turns them into splits again', async () => {
    await back();
    await expectTruth(undone(truth));
    await back();
    await expectTruth(truth);
  });

  it('reports a moved corner as a survey', async () => {
    const folder = await region.version(0);
    let moved = '';
    await rewriteZip(join(folder, 'MOLISE.zip'), (path, content) => {
      if (!path.includes('/Z002_') || !path.endsWith('_ple.gml')) return content;
      const { text } = edited(content.toString('utf8'));
      const parcels = [...text.matchAll(MEMBER)].map(([member]) => new Parcel(member));
      const parcel = parcels.find((each) => each.isSimple && !truth.some(({ child }) => child === each.reference))!;
      moved = parcel.reference;
      const [, [lat, lng], [towardsLat, towardsLng]] = parcel.ring as [Point, Point, Point];
      const corner = [0.9 * Number(lat) + 0.1 * Number(towardsLat), 0.9 * Number(lng) + 0.1 * Number(towardsLng)].map((each) => each.toFixed(8)).join(' ');
      return Buffer.from(text.replaceAll(`${lat} ${lng}`, corner), 'utf8');
    });
    await publish(database, folder);
    const publication = await lastSwap();
    const { data: { parents, children } } = await lineageOf(moved);
    const now = [...parents, ...children].filter((each) => each.publication === publication);
    expect(new Set(now.map(({ kind }) => kind))).toEqual(new Set(['survey']));
    expect(now.some(({ cadastral_reference: reference }) => reference === moved)).toBe(true);
  });

  it('reports a survey, not a new number, if a new parcel covers only a part of a retired parcel', async () => {
    const folder = await region.version(0);
    let [retired, added] = ['', ''];
    await rewriteZip(join(folder, 'MOLISE.zip'), (path, content) => {
      if (!path.includes('/Z002_') || !path.endsWith('_ple.gml')) return content;
      const { text } = edited(content.toString('utf8'));
      const parcels = [...text.matchAll(MEMBER)].map(([member]) => new Parcel(member));
      const parcel = parcels.filter((each) => each.isSimple && !truth.some(({ child }) => child === each.reference)).at(-1)!;
      // Shrinks the parcel towards its first corner. The new parcel covers 0.7 × 0.7 of the area.
      const [[lat, lng]] = parcel.ring as [Point];
      const nearer = (corner: string, first: string): string => (0.3 * Number(first) + 0.7 * Number(corner)).toFixed(8);
      const smaller = parcel.as('6999', parcel.ring.map((corner) => [nearer(corner[0], lat), nearer(corner[1], lng)] as const));
      retired = parcel.reference;
      added = smaller.reference;
      return Buffer.from(text.replace(parcel.text, () => smaller.text), 'utf8');
    });
    await publish(database, folder);
    const publication = await lastSwap();
    const { data: { children } } = await lineageOf(retired);
    const { data: { parents } } = await lineageOf(added);
    const found = [...children, ...parents].filter((each) => each.publication === publication);
    expect(found.map(({ kind, cadastral_reference: reference }) => [kind, reference])).toEqual([['survey', added], ['survey', retired]]);
    for (const { share_of_parent: ofParent, share_of_child: ofChild } of found) expect([ofParent.toFixed(2), ofChild.toFixed(2)]).toEqual(['0.49', '1.00']);
  });

  it('has no parents or children for a parcel that never changed, and refuses a fid that never existed', async () => {
    const same = await one<{ reference: string }>(database, 'select reference from core.parcel p where not exists (select from history.parcel h where h.fid = p.fid) limit 1', []);
    expect((await lineageOf(same.reference)).data).toEqual({ parents: [], children: [] });
    expect(await parcelLineage(database, 1_499_999_999)).toEqual({ refusal: 'not_there' });
  });

  it('gets a new tag after two rollbacks that restore the publication and after pruning of history, as do the lists of publications and changes', async () => {
    const { fid } = await one<{ fid: number }>(database, 'select min(fid) as fid from core.parcel', []);
    const since = await lastSwap();
    const tags = (): Promise<Readonly<Record<'lineage' | 'feed' | 'changes', string>>> => one(
      database,
      `select l.publication as lineage, f.publication as feed, c.publication as changes
       from api.parcel_lineage($1) l, api.publication_feed($2, 50) f, api.changed_parcels($2, $3, $4, null, null, null, 1, '{}') c`,
      [fid, REGION, [firstFid(REGION), firstFid(REGION + 1)], since],
    );
    const seen = [await tags()];
    await back();
    await back();
    seen.push(await tags());
    await prune(database, (await contextOn(database)).sources, { keep: 0 });
    seen.push(await tags());
    for (const name of ['lineage', 'feed', 'changes'] as const) expect([name, new Set(seen.map((each) => each[name])).size]).toEqual([name, 3]);
  });
});
