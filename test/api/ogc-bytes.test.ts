/** Tests that pages of OGC features end at 1 MiB, and that a filter is stopped after 2 seconds. In total, the pages must contain every feature once. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { COLLECTIONS } from '../../api/ogc.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { BASE, regionService } from './harness.ts';

type Page = { features: { id: number }[]; numberReturned: number; links: { href: string; rel: string }[] };

const MIB = 1_048_576;
const random = randomOf('ogc-bytes', testEnvironment().seed);

describeEngines('pages of OGC features', (engine) => {
  let service: Awaited<ReturnType<typeof regionService>>;
  let key: string;
  let all: { fid: number; belfiore: string }[];
  let largest: number;

  beforeAll(async () => {
    service = await regionService(engine, 120, 17, { comuni: 2, only: ['ade_cadastre', 'istat_comuni', 'istat_boundaries', 'ispra_flood'] });
    key = await service.token();
    all = await service.database.query('select fid, belfiore from core.parcel order by fid');
    largest = random.pick(all).fid;
    // Creates outlines of about ten thousand bytes, and one outline that is larger than a page.
    await service.database.query('update core.parcel set geom = st_segmentize(geom, 5e-7)');
    await service.database.query('update core.parcel set geom = st_segmentize(geom, 5e-9) where fid = $1', [largest]);
  });
  afterAll(() => service?.close());

  async function walk(query: string): Promise<{ readonly fids: number[]; readonly sizes: number[]; readonly counts: number[] }> {
    const [fids, sizes, counts]: [number[], number[], number[]] = [[], [], []];
    for (let next: string | undefined = query; next !== undefined;) {
      const { status, text, body } = await service.ask(`/ogc/collections/${next}`, { key });
      expect(status, text.slice(0, 200)).toBe(200);
      const page = body as unknown as Page;
      expect(page.numberReturned).toBe(page.features.length);
      fids.push(...page.features.map(({ id }) => id));
      sizes.push(Buffer.byteLength(text));
      counts.push(page.features.length);
      const link = page.links.find(({ rel }) => rel === 'next');
      next = link?.href.slice(link.href.indexOf(`${BASE}/ogc/collections/`) + `${BASE}/ogc/collections/`.length);
      expect(sizes.length).toBeLessThan(all.length + 2);
    }
    return { fids, sizes, counts };
  }

  const { id } = random.pick(COLLECTIONS);
  it(`end at 1 MiB, or after one larger feature, for all parcels and for the parcels of a comune (collection ${id})`, async () => {
    const { belfiore } = random.pick(all);
    const ways: readonly (readonly [string, readonly number[]])[] = [
      ['', all.map(({ fid }) => fid)], [`&municipality_code=${belfiore}`, all.filter((each) => each.belfiore === belfiore).map(({ fid }) => fid)],
    ];
    for (const [more, expected] of ways) {
      const { fids, sizes, counts } = await walk(`${id}/items?limit=1000${more}`);
      expect([...fids].sort((a, b) => a - b), more).toEqual(expected);
      const over = sizes.flatMap((size, page) => (size > MIB ? [counts[page]] : []));
      expect(over, more).toEqual(expected.includes(largest) ? [1] : []);
      expect(counts.every((count) => count > 0)).toBe(true);
      expect(counts.length).toBeGreaterThan(2);
    }
  });

  // PGlite runs in the thread of its caller and cannot stop a statement.
  it.skipIf(engine.name === 'pglite')('are refused with the error FILTER_TOO_SLOW if a filter takes more than 2 seconds', async () => {
    await service.database.query('update core.parcel set geom = st_segmentize(geom, 5e-9)');
    // The box of this line contains all parcels, but the line touches no parcel. Every parcel must therefore be tested.
    const around = 'S_INTERSECTS(geometry, LINESTRING(6 35, 19 35, 19 47, 6 47))';
    const slow = Array.from({ length: 49 }, () => around).join(' or ');
    const { status, body } = await service.ask(`/ogc/collections/parcels/items?bbox=6,35,19,47&filter=${encodeURIComponent(slow)}`, { key });
    expect([status, body!['error'], body!['details']]).toEqual([400, 'FILTER_TOO_SLOW', { seconds: 2 }]);
    // The server answers the next request.
    const after = await service.ask(`/ogc/collections/parcels/items?limit=1&municipality_code=${all[0]!.belfiore}`, { key });
    expect(after.status).toBe(200);
  });
});
