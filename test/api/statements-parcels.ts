/** Lists statements about locating and searching parcels, their neighbours, and the content and coverage of records. */
import { expect } from 'vitest';
import { regionOfFid } from '../../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { daysGoBy, onOneDay } from '../harness/days.ts';
import { ascending, cornersOf, edgeMetres, edgesOf, fids, meetings, metaOf, query, roughArea, some, type Basic, type Json, type Statement } from '../harness/api-trial.ts';

const OF_LOCATE = 'locating parcels';
const OF_NEIGHBOURS = 'neighbours';
const OF_CADASTRE = 'searching parcels by sheet and label';
const OF_RECORD = 'the record';
const OF_COVERAGE = 'coverage';

/** Returns a key that is the same for both directions of an edge. */
function keyOf(edge: readonly [string, string]): string {
  return [...edge].sort().join(' ');
}

/** Maximum length in metres of the pieces into which `borderNear` divides a border. */
const PIECE_M = 0.25;
/** Maximum distance in metres between the middle of a near piece and the other parcel. All parts of a border within 0.10 m are in near pieces. */
const NEAR_M = 0.4;

/** Returns an upper bound of the length in metres of the parcel's border within 0.10 m of another parcel. */
function borderNear(basic: Basic, other: Basic): number {
  const { lng, lat } = basic.centroid;
  const [xScale, yScale] = [edgeMetres(`${lng},${lat}`, `${lng + 0.001},${lat}`) * 1000, edgeMetres(`${lng},${lat}`, `${lng},${lat + 0.001}`) * 1000];
  const placed = (corner: string): readonly [number, number] => {
    const [x = 0, y = 0] = corner.split(',').map(Number);
    return [(x - lng) * xScale, (y - lat) * yScale];
  };
  const edges = (of: Basic): (readonly [readonly [number, number], readonly [number, number]])[] => edgesOf(of).map(([from, to]) => [placed(from), placed(to)]);
  const others = edges(other);
  const isNear = (x: number, y: number): boolean => {
    let isInside = false;
    for (const [[x1, y1], [x2, y2]] of others) {
      const [dx, dy] = [x2 - x1, y2 - y1];
      const along = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy || 1)));
      if (Math.hypot(x1 + along * dx - x, y1 + along * dy - y) <= NEAR_M) return true;
      if ((y1 > y) !== (y2 > y) && x < x1 + ((y - y1) / dy) * dx) isInside = !isInside;
    }
    return isInside;
  };
  return edges(basic).reduce((sum, [[x1, y1], [x2, y2]]) => {
    const pieces = Math.ceil(Math.hypot(x2 - x1, y2 - y1) / PIECE_M);
    const near = Array.from({ length: pieces }, (_, index) => (index + 0.5) / pieces).filter((at) => isNear(x1 + at * (x2 - x1), y1 + at * (y2 - y1)));
    return sum + (near.length / Math.max(1, pieces)) * Math.hypot(x2 - x1, y2 - y1);
  }, 0);
}

export const PARCELS: readonly Statement[] = [
  // --- Locating parcels -------------------------------------------------------------------------------------------------
  {
    about: OF_LOCATE, says: 'requires exactly one of lat with lng, points, bbox and polygon',
    holds: async (trial) => {
      for (const [place, parameter] of [
        ['', 'lat'], ['lat=42', 'lng'], ['lng=14', 'lat'], ['lat=42&lng=14&bbox=14,42,14.01,42.01', 'bbox'], ['lat=42&bbox=14,42,14.01,42.01', 'bbox'], ['points=42,14&lat=42', 'points'], ['points=42,14&bbox=14,42,14,42', 'bbox'],
        ['lat=42&lng=14&polygon=POLYGON((14 42,14.001 42,14 42.001,14 42))', 'polygon'], ['bbox=14,42,14,42&polygon=POLYGON((14 42,14.001 42,14 42.001,14 42))', 'polygon'],
      ]) expect(await trial.refusal(`/parcels/locate?${place}`), place).toEqual([400, 'INVALID_PARAMS', parameter]);
    },
  },
  {
    about: OF_LOCATE, says: 'accepts boxes of at most 0.05° on each side, in Italy, with ordered corners',
    holds: async (trial) => {
      expect(await trial.refusal('/parcels/locate?bbox=14,42,14.0501,42.01')).toEqual([400, 'BBOX_TOO_LARGE', undefined]);
      expect(await trial.refusal('/parcels/locate?bbox=14,42,14.01,42.0501')).toEqual([400, 'BBOX_TOO_LARGE', undefined]);
      expect(await trial.refusal('/parcels/locate?bbox=5.9,42,5.91,42.01')).toEqual([400, 'OUT_OF_BOUNDS', undefined]);
      expect(await trial.refusal('/parcels/locate?bbox=14.01,42,14,42.01')).toEqual([400, 'INVALID_PARAMS', 'bbox']);
      await trial.get('/parcels/locate?bbox=14,42,14.05,42.05');
    },
  },
  {
    about: OF_LOCATE, says: 'returns at most 50 parcels by default, accepts a limit of 1 to 200, and reports whether there are more',
    holds: async (trial) => {
      const box = trial.service.region.comuni[0].box.map((side) => side.toFixed(7)) as [string, string, string, string];
      const wide = `/parcels/locate?bbox=${box[0]},${box[1]},${Math.min(Number(box[2]), Number(box[0]) + 0.05)},${Math.min(Number(box[3]), Number(box[1]) + 0.05)}`;
      const usual = (await trial.get(wide)) as { data: Json[]; meta: Json };
      expect([usual.data.length, usual.meta['limit'], usual.meta['count'], usual.meta['truncated']]).toEqual([50, 50, 50, true]);
      expect(metaOf(await trial.get(`${wide}&limit=200`))['limit']).toBe(200);
      for (const limit of [0, 201]) expect(await trial.refusal(`${wide}&limit=${limit}`)).toEqual([400, 'INVALID_PARAMS', 'limit']);
    },
  },
  {
    about: OF_LOCATE, says: 'returns the same area, centroid, reference, label and comune as the record',
    holds: async (trial) => {
      // The API rounds areas to four decimals and then to two decimals, which gives 100.01 for this area. Direct rounding to two decimals would give 100.
      const odd = await trial.parcel();
      const [before] = await trial.service.database.query<{ area: number }>('select area_m2 as area from core.parcel where fid = $1', [odd.fid]);
      await trial.service.database.query('update core.parcel set area_m2 = 100.004999996 where fid = $1', [odd.fid]);
      try {
        const [located] = (await trial.list(`/parcels/locate?${query(odd.centroid)}`)).filter(({ fid }) => fid === odd.fid);
        const record = (await trial.get(`/parcels/${odd.fid}?include=basic`))['basic'] as Basic;
        expect([located!['area_m2'], record.area_m2]).toEqual([100.01, 100.01]);
      } finally {
        await trial.service.database.query('update core.parcel set area_m2 = $2 where fid = $1', [odd.fid, before!.area]);
      }
      const basics = await trial.basics();
      for (let from = 0; from < basics.length; from += 100) {
        const asked = basics.slice(from, from + 100).filter((_, index) => index % 10 === 0);
        const points = asked.map(({ centroid: { lat, lng } }) => `${lat},${lng}`).join(';');
        const found = await trial.list(`/parcels/locate?points=${points}`);
        for (const basic of asked) {
          const { gml_id, label, cadastral_reference, municipality, area_m2, centroid } = basic;
          expect(found.filter(({ fid }) => fid === basic.fid)).toEqual([
            { point: centroid, fid: basic.fid, gml_id, label, cadastral_reference, municipality, area_m2, centroid },
          ]);
        }
      }
    },
  },
  {
    about: OF_LOCATE, says: 'finds the parcels that contain a point, border included, smallest first',
    holds: async (trial) => {
      for (const [corner, owners] of some(meetings(await trial.basics()).filter(([, each]) => each.length > 2), 20)) {
        const [lng, lat] = corner.split(',');
        const found = await trial.list(`/parcels/locate?lat=${lat}&lng=${lng}`);
        expect(fids(found)).toEqual(expect.arrayContaining(owners));
        const areas = found.map(({ area_m2: area }) => area as number);
        expect(areas).toEqual(ascending(areas));
      }
    },
  },
  {
    about: OF_LOCATE, says: 'finds at every returned corner, with 7 decimals, the parcels that meet there',
    holds: async (trial) => {
      const corners = some(meetings(await trial.basics()), 400);
      expect(corners.length).toBeGreaterThan(200);
      for (let from = 0; from < corners.length; from += 10) {
        const asked = corners.slice(from, from + 10).map(([corner, owners]) => ({ lng: Number(corner.split(',')[0]), lat: Number(corner.split(',')[1]), owners }));
        const found = await trial.list(`/parcels/locate?points=${asked.map(({ lat, lng }) => `${lat},${lng}`).join(';')}`);
        for (const { lat, lng, owners } of asked) {
          const there = found.filter(({ point }) => (point as Json)['lat'] === lat && (point as Json)['lng'] === lng);
          expect(fids(there), `${lat},${lng}`).toEqual(expect.arrayContaining(owners));
        }
      }
    },
  },
  {
    about: OF_LOCATE, says: 'finds a parcel even if the point is up to 1e-7° outside the border',
    holds: async (trial) => {
      const parcels = await trial.basics();
      const north = parcels.reduce((best, each) => (Math.max(...cornersOf(each).map((corner) => Number(corner.split(',')[1]))) > Math.max(...cornersOf(best).map((corner) => Number(corner.split(',')[1]))) ? each : best));
      const [lng, lat] = cornersOf(north).map((corner) => corner.split(',').map(Number) as [number, number]).sort((a, b) => b[1] - a[1])[0]!;
      expect(fids(await trial.list(`/parcels/locate?lat=${(lat + 0.000_000_05).toFixed(9)}&lng=${lng}`))).toContain(north.fid);
      expect(await trial.list(`/parcels/locate?lat=${(lat + 0.000_000_25).toFixed(9)}&lng=${lng}`)).toEqual([]);
    },
  },
  {
    about: OF_LOCATE, says: 'finds the parcels that intersect a box, ordered by fid',
    holds: async (trial) => {
      const { centroid: { lat, lng } } = await trial.parcel();
      const box = [lng - 0.002, lat - 0.002, lng + 0.002, lat + 0.002].map((side) => Number(side.toFixed(7)));
      const { data, meta } = (await trial.get(`/parcels/locate?bbox=${box.join(',')}&limit=200`)) as { data: Json[]; meta: Json };
      expect(meta).toEqual({ mode: 'bbox', bbox: box, after: null, limit: 200, count: data.length, truncated: false });
      expect(fids(data)).toEqual(ascending(fids(data)));
      const inside = (await trial.basics()).filter(
        ({ centroid }) => centroid.lng > box[0]! && centroid.lng < box[2]! && centroid.lat > box[1]! && centroid.lat < box[3]!,
      );
      expect(inside.length).toBeGreaterThan(3);
      expect(fids(data)).toEqual(expect.arrayContaining(inside.map(({ fid }) => fid)));
    },
  },
  {
    about: OF_LOCATE, says: 'finds the same parcels for a rectangular polygon as for the box, page by page',
    holds: async (trial) => {
      const { centroid: { lat, lng } } = await trial.parcel();
      const [west = '', south = '', east = '', north = ''] = [lng - 0.003, lat - 0.003, lng + 0.003, lat + 0.003].map((side) => side.toFixed(7));
      const wkt = `POLYGON((${west} ${south}, ${east} ${south}, ${east} ${north}, ${west} ${north}, ${west} ${south}))`;
      const expected = await trial.list(`/parcels/locate?bbox=${west},${south},${east},${north}&limit=200`);
      expect(expected.length).toBeGreaterThan(10);
      const found: Json[] = [];
      for (let after = ''; ;) {
        const { data, meta } = (await trial.get(`/parcels/locate?polygon=${encodeURIComponent(wkt.toLowerCase())}&limit=7${after}`)) as { data: Json[]; meta: Json };
        expect(meta).toMatchObject({ mode: 'polygon', limit: 7, count: data.length });
        found.push(...data);
        if (meta['truncated'] !== true) break;
        after = `&after=${fids(data).at(-1)!}`;
      }
      expect(found).toEqual(expected);
    },
  },
  {
    about: OF_LOCATE, says: 'finds for a polygon only the parcels that intersect the polygon, not all parcels in the box of the polygon',
    holds: async (trial) => {
      const { centroid: { lat, lng } } = await trial.parcel();
      const size = 0.004;
      const wkt = `POLYGON((${lng} ${lat}, ${lng + size} ${lat}, ${lng} ${lat + size}, ${lng} ${lat}))`;
      const found = new Set(fids(await trial.list(`/parcels/locate?polygon=${encodeURIComponent(wkt)}&limit=200`)));
      const placed = (await trial.basics()).map(({ fid, centroid }) => ({ fid, x: (centroid.lng - lng) / size, y: (centroid.lat - lat) / size }));
      const inside = placed.filter(({ x, y }) => x > 0 && y > 0 && x + y < 1);
      expect(inside.length).toBeGreaterThan(3);
      for (const { fid } of inside) expect(found).toContain(fid);
      const inBox = fids(await trial.list(`/parcels/locate?bbox=${[lng, lat, lng + size, lat + size].map((side) => side.toFixed(7)).join(',')}&limit=200`));
      expect(found.size).toBeLessThan(inBox.length);
    },
  },
  {
    about: OF_LOCATE, says: 'accepts polygons of one simple ring of at most 200 corners and 1 km², in Italy',
    holds: async (trial) => {
      const ask = (wkt: string): Promise<unknown[]> => trial.refusal(`/parcels/locate?polygon=${encodeURIComponent(wkt)}`);
      for (const wkt of [
        '', 'POINT(14 42)', 'POLYGON EMPTY', 'POLYGON((14 42, 14.001 42, 14 42))', 'POLYGON((14 42, 14.001 42, 14.001 42.001, 14 42.001))',
        'POLYGON((14 42, 14.003 42, 14.003 42.003, 14 42), (14.001 42.001, 14.002 42.001, 14.002 42.002, 14.001 42.001))',
        'POLYGON((14 42, 14.001 42.001, 14.001 42, 14 42.001, 14 42))', 'POLYGON((14 42 1, 14.001 42 1, 14 42.001 1, 14 42 1))', 'MULTIPOLYGON(((14 42, 14.001 42, 14 42.001, 14 42)))',
        'POLYGON((14 42, 14 42, 14 42, 14 42))',
      ]) expect(await ask(wkt), wkt).toEqual([400, 'INVALID_PARAMS', 'polygon']);
      const round = (corners: number, radius: number): string => {
        const ring = Array.from({ length: corners }, (_, index) => `${(14 + radius * Math.cos((2 * Math.PI * index) / corners)).toFixed(7)} ${(42 + radius * Math.sin((2 * Math.PI * index) / corners)).toFixed(7)}`);
        return `POLYGON((${[...ring, ring[0]].join(', ')}))`;
      };
      expect(await ask(round(201, 0.002))).toEqual([400, 'INVALID_PARAMS', 'polygon']);
      await trial.get(`/parcels/locate?polygon=${encodeURIComponent(round(200, 0.002))}`);
      expect(await ask(round(50, 0.02))).toEqual([400, 'POLYGON_TOO_LARGE', undefined]);
      expect(await ask('POLYGON((5.9 42, 5.901 42, 5.9 42.001, 5.9 42))')).toEqual([400, 'OUT_OF_BOUNDS', undefined]);
    },
  },
  {
    about: OF_NEIGHBOURS, says: 'are the parcels that share a border, with the length of the border, and the relation is mutual',
    holds: async (trial) => {
      const basics = await trial.basics();
      const edges = new Map<string, Basic[]>();
      for (const basic of basics) for (const edge of edgesOf(basic)) edges.set(keyOf(edge), [...(edges.get(keyOf(edge)) ?? []), basic]);
      for (const basic of some(basics.filter(({ kind }) => kind === 'land'), 30)) {
        const { data, meta } = (await trial.get(`/parcels/${basic.fid}/neighbours?limit=200`)) as { data: Json[]; meta: Json };
        expect(meta).toEqual({ fid: basic.fid, count: data.length, truncated: false });
        const found = new Map(data.map(({ fid, shared_m: shared }) => [fid as number, shared as number]));
        expect([...found.values()]).toEqual(ascending([...found.values()]).reverse());
        // Total length of the edges that both parcels have. The border can be longer, because one parcel may lack a corner of the other parcel.
        const shared = new Map<number, number>();
        for (const edge of edgesOf(basic)) {
          for (const { fid } of edges.get(keyOf(edge))!.filter((each) => each.fid !== basic.fid)) shared.set(fid, (shared.get(fid) ?? 0) + edgeMetres(...edge));
        }
        expect(shared.size).toBeGreaterThan(0);
        for (const [fid, metres] of shared) if (metres > 0.11) expect(found.get(fid), `${basic.fid} and ${fid}`).toBeGreaterThan(metres * 0.999 - 0.02);
        for (const [fid, metres] of found) {
          const near = borderNear(basic, basics.find((each) => each.fid === fid)!);
          expect(metres, `${basic.fid} and ${fid}`).toBeLessThan(near * 1.001 + 0.02);
        }
        for (const fid of found.keys()) {
          expect(fids(await trial.list(`/parcels/${fid}/neighbours?limit=200`)), `${fid} has ${basic.fid} as a neighbour`).toContain(basic.fid);
        }
      }
    },
  },
  {
    about: OF_NEIGHBOURS, says: 'accept a limit of 1 to 200, and the response reports whether there are more',
    holds: async (trial) => {
      const { fid } = await trial.parcel();
      const all = await trial.list(`/parcels/${fid}/neighbours`);
      expect(all.length).toBeGreaterThan(1);
      const { data, meta } = (await trial.get(`/parcels/${fid}/neighbours?limit=1`)) as { data: Json[]; meta: Json };
      expect([data, meta]).toEqual([all.slice(0, 1), { fid, count: 1, truncated: true }]);
      for (const limit of [0, 201]) expect(await trial.refusal(`/parcels/${fid}/neighbours?limit=${limit}`)).toEqual([400, 'INVALID_PARAMS', 'limit']);
      expect((await trial.refusal('/parcels/1499999999/neighbours')).slice(0, 2)).toEqual([404, 'NOT_FOUND']);
    },
  },
  {
    about: OF_LOCATE, says: 'finds the same parcels for a box without width and height as for the point itself',
    holds: async (trial) => {
      const basics = await trial.basics();
      const places = [...some(meetings(basics), 20).map(([corner]) => corner), ...some(basics, 10).map(({ centroid: { lat, lng } }) => `${lng},${lat}`), '6.5,38.5'];
      for (const place of places) {
        const [lng, lat] = place.split(',');
        const point = await trial.list(`/parcels/locate?lat=${lat}&lng=${lng}`);
        expect(fids(await trial.list(`/parcels/locate?bbox=${place},${place}`)), place).toEqual(ascending(fids(point)));
      }
    },
  },
  {
    about: OF_LOCATE, says: 'finds the parcels along the line if a box has no width or no height',
    holds: async (trial) => {
      const { centroid: { lat, lng } } = await trial.parcel();
      for (const line of [[lng, lat - 0.001, lng, lat + 0.001], [lng - 0.001, lat, lng + 0.001, lat]].map((sides) => sides.map((side) => side.toFixed(7)))) {
        const found = fids(await trial.list(`/parcels/locate?bbox=${line.join(',')}&limit=200`));
        expect(found.length).toBeGreaterThan(1);
        const [west, south, east, north] = line as [string, string, string, string];
        for (const [x, y] of [[west, south], [String(lng), String(lat)], [east, north]]) expect(found).toEqual(expect.arrayContaining(fids(await trial.list(`/parcels/locate?lat=${y}&lng=${x}`))));
      }
    },
  },
  {
    about: OF_LOCATE, says: 'returns the geometry and kind of each parcel, as in its record, with geometry=true',
    holds: async (trial) => {
      const basics = new Map((await trial.basics()).map((basic) => [basic.fid, basic]));
      const { centroid: { lat, lng } } = await trial.parcel();
      for (const place of [`lat=${lat}&lng=${lng}`, `points=${lat},${lng}`, `bbox=${lng},${lat},${lng + 0.001},${lat + 0.001}`]) {
        const found = await trial.list(`/parcels/locate?${place}&geometry=true`);
        expect(found.length).toBeGreaterThan(0);
        for (const { fid, geometry, kind } of found)
          expect({ geometry, kind }).toEqual({ geometry: basics.get(fid as number)!.geometry, kind: basics.get(fid as number)!.kind });
        for (const each of await trial.list(`/parcels/locate?${place}&geometry=false`)) expect(Object.keys(each)).not.toContain('geometry');
      }
      expect(await trial.refusal(`/parcels/locate?lat=${lat}&lng=${lng}&geometry=yes`)).toEqual([400, 'INVALID_PARAMS', 'geometry']);
    },
  },
  {
    about: OF_LOCATE, says: 'returns every parcel of a box once with after=fid, and the last page is not truncated',
    holds: async (trial) => {
      const seen: number[] = [];
      const [west, south, , north] = trial.service.region.comuni[0].box;
      const box = [west, south, west + 0.03, north].map((side) => side.toFixed(7)).join(',');
      const all = await trial.list(`/parcels/locate?bbox=${box}&limit=200`);
      for (let after: number | null = null, more = true; more;) {
        const page = (await trial.get(`/parcels/locate?bbox=${box}&limit=40${after === null ? '' : `&after=${after}`}`)) as { data: Json[]; meta: Json };
        expect(page.meta).toMatchObject({ after, limit: 40, count: page.data.length });
        seen.push(...fids(page.data));
        more = page.meta['truncated'] as boolean;
        after = seen.at(-1)!;
      }
      expect(seen.slice(0, all.length)).toEqual(fids(all));
      expect(seen).toEqual(ascending([...new Set(seen)]));
      expect(await trial.refusal('/parcels/locate?lat=42&lng=14&after=1')).toEqual([400, 'INVALID_PARAMS', 'after']);
    },
  },
  {
    about: OF_LOCATE, says: 'returns a FeatureCollection with format=geojson',
    holds: async (trial) => {
      const { centroid: { lat, lng }, fid, geometry, label } = await trial.parcel();
      for (const place of [`lat=${lat}&lng=${lng}`, `points=${lat},${lng}`, `bbox=${lng},${lat},${lng},${lat}`]) {
        const collection = (await trial.get(`/parcels/locate?${place}&format=geojson`)) as { type: string; features: Json[] };
        expect(collection.type).toBe('FeatureCollection');
        expect(collection.features.find(({ id }) => id === fid)).toMatchObject({ type: 'Feature', id: fid, geometry, properties: { fid, label } });
      }
      expect(await trial.refusal(`/parcels/locate?lat=${lat}&lng=${lng}&format=xml`)).toEqual([400, 'INVALID_PARAMS', 'format']);
    },
  },
  {
    about: OF_LOCATE, says: 'accepts up to 10 points, applies the limit to each point, and returns the point of each parcel',
    holds: async (trial) => {
      const meeting = meetings(await trial.basics()).find(([, owners]) => owners.length > 2)!;
      const [lng, lat] = meeting[0].split(',').map(Number) as [number, number];
      const { centroid } = await trial.parcel();
      const points = [{ lat, lng }, { lat: 38.5, lng: 6.5 }, centroid];
      const { data, meta } = (await trial.get(`/parcels/locate?points=${points.map((point) => `${point.lat},${point.lng}`).join(';')}&limit=1`)) as { data: Json[]; meta: Json };
      expect(data.map(({ point }) => point)).toEqual([points[0], points[2]]);
      expect(meta).toEqual({
        mode: 'points', points: [{ ...points[0], count: 1, truncated: true }, { ...points[1], count: 0, truncated: false }, { ...points[2], count: 1, truncated: false }], limit: 1, count: 2, truncated: true,
      });
      for (const [value, code] of [[Array.from({ length: 11 }, () => '42,14').join(';'), 'INVALID_PARAMS'], ['', 'INVALID_PARAMS'], ['42', 'INVALID_PARAMS'], ['42,14;', 'INVALID_PARAMS'], ['42,14,0', 'INVALID_PARAMS'], ['42,14;34,14', 'OUT_OF_BOUNDS']]) {
        expect((await trial.refusal(`/parcels/locate?points=${value}`)).slice(0, 2), value).toEqual([400, code]);
      }
    },
  },

  // --- Parcels by sheet and number --------------------------------------------------------------------------------------
  {
    about: OF_CADASTRE, says: 'needs the comune, and the sheet or the label',
    holds: async (trial) => {
      expect(await trial.refusal('/parcels/search?foglio=1')).toEqual([400, 'INVALID_PARAMS', 'comune']);
      expect(await trial.refusal('/parcels/search?comune=Z001')).toEqual([400, 'INVALID_PARAMS', 'foglio']);
      for (const [name, value] of [['foglio', '12345'], ['foglio', 'x'], ['foglio', ''], ['sezione', 'AB'], ['label', ''], ['limit', '0'], ['limit', '101']]) {
        expect(await trial.refusal(`/parcels/search?comune=Z001${name === 'foglio' ? '' : '&foglio=1'}&${name}=${value}`)).toEqual([400, 'INVALID_PARAMS', name]);
      }
    },
  },
  {
    about: OF_CADASTRE, says: 'finds each parcel by its comune, sheet, section and label',
    holds: async (trial) => {
      for (const basic of [...some(await trial.basics(), 15), ...some((await trial.basics()).filter(({ kind, cadastral }) => kind !== 'land' || cadastral.section !== null), 10)]) {
        const { cadastral, label, municipality, fid, cadastral_reference: reference } = basic;
        const found = await trial.list(`/parcels/search?${query({ comune: municipality.code, foglio: cadastral.sheet, label, ...(cadastral.section === null ? {} : { sezione: cadastral.section }) })}`);
        expect(found.find((each) => each['fid'] === fid)).toMatchObject({ fid, label, cadastral_reference: reference, municipality });
        expect(found.filter((each) => each['label'] !== label || String(each['cadastral_reference']).slice(5, 9) !== cadastral.sheet.padStart(4, '0'))).toEqual([]);
      }
    },
  },
  {
    about: OF_CADASTRE, says: 'finds the parcels of a sheet or a label, sorted by both, 20 by default and up to 100, and reports whether there are more',
    holds: async (trial) => {
      const basics = await trial.basics();
      const { municipality, cadastral } = await trial.parcel();
      const ofComune = basics.filter((each) => each.municipality.code === municipality.code);
      const sheet = ofComune.filter((each) => each.cadastral.sheet === cadastral.sheet);
      const usual = (await trial.get(`/parcels/search?comune=${municipality.code}&foglio=${cadastral.sheet}`)) as { data: Json[]; meta: Json };
      expect(usual.meta).toEqual({ mode: 'search', comune: municipality.code, foglio: cadastral.sheet, label: null, sezione: null, limit: 20, count: Math.min(20, sheet.length), truncated: sheet.length > 20 });
      const all = (await trial.get(`/parcels/search?comune=${municipality.code}&foglio=00${cadastral.sheet}&limit=100`.replace('00', cadastral.sheet.length < 3 ? '00' : ''))) as { data: Json[]; meta: Json };
      expect(fids(all.data).sort()).toEqual(sheet.map(({ fid }) => fid).sort().slice(0, all.data.length));
      expect(all.meta['truncated']).toBe(sheet.length > 100);
      const numbers = all.data.map(({ label }) => /^\d+$/.test(String(label)) ? Number(label) : null).filter((label) => label !== null);
      expect(numbers).toEqual(ascending(numbers));
      const labelled = await trial.list(`/parcels/search?comune=${municipality.code}&label=${sheet[0]!.label}&limit=100`);
      expect(fids(labelled).sort()).toEqual(ofComune.filter(({ label }) => label === sheet[0]!.label).map(({ fid }) => fid).sort());
      const sheets = labelled.map((each) => Number(String(each['cadastral_reference']).slice(5, 9)));
      expect(sheets).toEqual(ascending(sheets));
    },
  },
  {
    about: OF_CADASTRE, says: 'accepts the same values for comune as the address search for city, and finds nothing in an unknown comune',
    holds: async (trial) => {
      const bilingual = trial.service.region.comuni.find(({ otherName }) => otherName !== null)!;
      const { cadastral } = (await trial.basics()).find(({ municipality }) => municipality.code === bilingual.belfiore)!;
      const expected = fids(await trial.list(`/parcels/search?comune=${bilingual.belfiore}&foglio=${cadastral.sheet}`));
      expect(expected.length).toBeGreaterThan(0);
      for (const comune of [bilingual.italianName, bilingual.otherName!, bilingual.belfiore.toLowerCase()]) {
        expect(fids(await trial.list(`/parcels/search?${query({ comune, foglio: cadastral.sheet })}`)), comune).toEqual(expected);
      }
      expect(await trial.list('/parcels/search?comune=Atlantide&foglio=1')).toEqual([]);
      expect(await trial.list('/parcels/search?comune=Z001&label=%25')).toEqual([]);
    },
  },

  // --- The record -------------------------------------------------------------------------------------------------------
  {
    about: OF_RECORD, says: 'follows the OpenAPI document for every parcel',
    // `trial.records` compares each record with the OpenAPI document.
    holds: async (trial) => {
      const [{ parcels }] = (await trial.service.database.query<{ parcels: number }>('select count(*)::int4 as parcels from core.parcel')) as [{ parcels: number }];
      expect((await trial.records()).length).toBe(parcels);
    },
  },
  {
    about: OF_RECORD, says: 'has basic and the requested sections, or all sections if none are requested',
    holds: async (trial) => {
      const { fid } = await trial.parcel();
      for (const include of ['', '?include=', '?include=%20']) expect(Object.keys(await trial.get(`/parcels/${fid}${include}`))).toEqual(['fid', 'municipality', ...SECTION_NAMES, 'meta']);
      for (const section of SECTION_NAMES) {
        const record = await trial.get(`/parcels/${fid}?include=${section}`);
        const expected = [...new Set(['basic', section])];
        expect(Object.keys(record)).toEqual(['fid', 'municipality', ...expected, 'meta']);
        expect(metaOf(record)['sections_included']).toEqual(expected);
      }
    },
  },
  {
    about: OF_RECORD, says: 'has licenses and attribution_required in meta, and the three mandatory attributions in every response',
    holds: async (trial) => {
      const { fid } = await trial.parcel();
      for (const include of ['basic', 'risk', SECTION_NAMES.join(',')]) {
        const meta = metaOf(await trial.get(`/parcels/${fid}?include=${include}`));
        expect(meta['attribution_required']).toBe(true);
        const words = (meta['licenses'] as Json[]).map(({ attribution }) => attribution).join('\n');
        for (const holder of [/Agenzia Entrate - OMI/, /Ministero dell'Economia/, /Istat/]) expect(words).toMatch(holder);
      }
    },
  },
  {
    about: OF_RECORD, says: 'cites the sources of each section with their periods, including the postal codes in basic',
    holds: async (trial) => {
      const record = (await trial.records()).find(({ basic }) => (basic as Basic).cadastral.postal_code !== null)!;
      const licenses = metaOf(record)['licenses'] as { section: string; source: string; reference_period: string | null }[];
      for (const section of SECTION_NAMES) {
        const isEmpty = ['null', '[]'].includes(JSON.stringify(record[section]));
        expect(licenses.some((license) => license.section === section), section).toBe(!isEmpty);
      }
      expect(licenses.filter(({ section, source }) => section === 'basic' && /CAP|postal/i.test(source))).toHaveLength(1);
      expect(licenses.filter(({ section, reference_period: period }) => section === 'basic' && period !== null).length).toBeGreaterThan(0);
    },
  },
  {
    about: OF_RECORD, says: 'has GeoJSON with at most 7 decimals and counter-clockwise outer rings, a point inside, and the true ground area',
    holds: async (trial) => {
      for (const { geometry, centroid, area_m2: area, fid } of some(await trial.basics(), 60)) {
        const polygons = (geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates) as (readonly [number, number])[][][];
        for (const rings of polygons) {
          rings.forEach((ring, index) => {
            const turn = ring.slice(1).reduce((sum, [x, y], place) => sum + (x - ring[place]![0]) * (y + ring[place]![1] - 2 * ring[0]![1]), 0);
            expect(Math.sign(-turn), `${fid}: ring ${index}`).toBe(index === 0 ? 1 : -1);
          });
        }
        for (const value of polygons.flat(3)) expect(Math.abs(value * 1e7 - Math.round(value * 1e7))).toBeLessThan(1e-3);
        const ground = polygons.reduce((sum, [outer, ...holes]) => sum + roughArea(outer!) - holes.reduce((all, hole) => all + roughArea(hole), 0), 0);
        expect(area / ground).toBeGreaterThan(0.95);
        expect(area / ground).toBeLessThan(1.05);
        expect(fids(await trial.list(`/parcels/locate?${query(centroid)}`))).toContain(fid);
      }
    },
  },
  {
    about: OF_RECORD, says: 'has a fid in the range of its region',
    holds: async (trial) => {
      for (const { fid } of await trial.basics()) expect(regionOfFid(fid)).toBe(14);
    },
  },
  {
    about: OF_RECORD, says: 'exists for roads and water, with basic and the hazards',
    holds: async (trial) => {
      const records = (await trial.records()).filter(({ basic }) => (basic as Basic).kind !== 'land');
      expect(new Set(records.map(({ basic }) => (basic as Basic).kind))).toEqual(new Set(['road', 'water']));
      for (const { risk, demographics } of records) expect([risk === null, demographics === null]).toEqual([false, true]);
    },
  },
  {
    about: OF_RECORD, says: 'is 410 GONE with successor_fid for a retired parcel, and 404 for a parcel that never existed',
    holds: async (trial) => {
      const { fid } = await trial.parcel();
      const retired = 1_499_999_998;
      await trial.service.database.query("insert into core.parcel_register (region_code, reference, fid, retired_on, successor_fid) values (14, 'Z001_009900.1', $1, '2025-01-01', $2), (14, 'Z001_009900.2', $3, '2025-01-01', null)", [retired, fid, retired + 1]);
      try {
        const now = [{ fid, cadastral_reference: (await trial.basics()).find((basic) => basic.fid === fid)!.cadastral_reference }];
        for (const [gone, successor, successors] of [[retired, fid, now], [retired + 1, null, []], ['Z001_009900.1', fid, now], ['it.age.pla.z001_009900.2', null, []]]) {
          const { status, body } = await trial.ask(`/parcels/${String(gone)}`);
          expect([status, body]).toMatchObject([410, { error: 'GONE', message: expect.any(String) as string, details: { id: gone, successor_fid: successor, successors } }]);
        }
      } finally {
        await trial.service.database.query('delete from core.parcel_register where fid in ($1, $2)', [retired, retired + 1]);
      }
      expect(await trial.refusal('/parcels/1499999997')).toEqual([404, 'NOT_FOUND', undefined]);
    },
  },
  {
    about: OF_RECORD, says: 'is found by its reference in upper or lower case, with or without the prefix, and is 404 for an unknown and 400 for a malformed reference',
    holds: async (trial) => {
      const basics = (await trial.basics()).slice(0, 20);
      for (const { fid, cadastral_reference: reference } of basics) {
        const { text } = await trial.ask(`/parcels/${fid}`);
        for (const spelling of [reference, reference.toLowerCase(), `IT.AGE.PLA.${reference}`, `cadastralparcel.it.age.pla.${reference}`]) {
          expect((await trial.ask(`/parcels/${encodeURIComponent(spelling)}`)).text, spelling).toBe(text);
        }
        const day = await trial.service.database.query<{ today: string }>("select (now() at time zone 'Europe/Rome')::date::text as today");
        const [byFid, byReference] = await Promise.all([fid, reference].map((id) => trial.ask(`/parcels/${id}?as_of=${day[0]!.today}`)));
        expect([byReference!.status, byReference!.body]).toEqual([byFid!.status, byFid!.body]);
      }
      for (const unknown of ['Z001_009999.9', 'IT.TN.999..7%2F2', 'it.bz.501.7']) expect(await trial.refusal(`/parcels/${unknown}`), unknown).toEqual([404, 'NOT_FOUND', undefined]);
      for (const malformed of ['Z001', 'Z001_0099.9', 'IT.XX.001.7', 'Z001_009999.', '2147483648', 'Z001_009999.1%00']) {
        expect((await trial.refusal(`/parcels/${malformed}`)).slice(0, 2), malformed).toEqual([400, 'INVALID_PARAMS']);
      }
    },
  },
  {
    about: OF_RECORD, says: 'with as_of is the record at the end of that day, or 404 before the first publication, or 400 for a future or invalid day',
    holds: async (trial) => {
      await onOneDay();
      const { fid } = await trial.parcel();
      const { database } = trial.service;
      const [day] = await database.query<{ today: string; before: string; after: string }>(
        "select d::text as today, (d - 1)::text as before, (d + 2)::text as after from (select (now() at time zone 'Europe/Rome')::date as d) t",
      );
      for (const include of ['', '&include=risk', '&include=basic,valuation']) {
        const { meta: { as_of: asOf, ...meta }, ...record } = (await trial.get(`/parcels/${fid}?as_of=${day!.today}${include}`)) as { meta: Json };
        expect({ ...record, meta }).toEqual(await trial.get(`/parcels/${fid}?${include.slice(1)}`));
        expect(asOf).toMatchObject({ date: day!.today });
      }
      const { status, body } = await trial.ask(`/parcels/${fid}?as_of=${day!.before}`);
      expect([status, body!['error'], body!['details']]).toEqual([404, 'NOT_FOUND', { id: fid, as_of: day!.before, kept_since: day!.today }]);
      expect(await trial.refusal(`/parcels/1499999997?as_of=${day!.today}`)).toEqual([404, 'NOT_FOUND', undefined]);
      for (const odd of [day!.after, '2026-02-30', '2026-1-31', '0000-01-01', '31.01.2026', '', '2026-01-31T00:00:00Z']) expect(await trial.refusal(`/parcels/${fid}?as_of=${odd}`), odd).toEqual([400, 'INVALID_PARAMS', 'as_of']);
      // After a new publication, responses to requests with an earlier `as_of` still contain the old values.
      const [first] = await database.query<{ zone: number }>('select seismic_zone as zone from section.risk where fid = $1', [fid]);
      await daysGoBy(database, 3);
      const swap = "insert into ledger.swap (unit_code, publication_id, happened_at) select unit_code, publication_id, now() - interval '1 second' from ledger.publication where state = 'current' and unit_code = 14 returning swap_id as swap";
      const [next] = await database.query<{ swap: number }>(swap);
      await database.query('insert into history.risk select r.*, 1, $2, false from section.risk r where r.fid = $1', [fid, next!.swap]);
      await database.query('update section.risk set seismic_zone = 5 - seismic_zone where fid = $1', [fid]);
      try {
        const zone = async (query: string): Promise<unknown> => ((await trial.get(`/parcels/${fid}?include=risk${query}`))['risk'] as Json)['seismic_zone'];
        expect([await zone(''), await zone(`&as_of=${day!.today}`), await zone(`&as_of=${day!.before}`)]).toEqual([5 - first!.zone, 5 - first!.zone, first!.zone]);
      } finally {
        await database.query('update section.risk set seismic_zone = $2 where fid = $1', [fid, first!.zone]);
        await database.query('delete from history.risk');
        await database.query('delete from ledger.swap where swap_id = $1', [next!.swap]);
        await daysGoBy(database, -3);
      }
    },
  },
  {
    about: OF_RECORD, says: 'has in risk the shares of the flood and landslide levels, the attention zone, and whether the seismic zone is exact',
    holds: async (trial) => {
      const risks = (await trial.records()).map(({ risk }) => risk as Json);
      for (const risk of risks) {
        for (const hazard of ['flood', 'landslide']) expect(risk[`${hazard}_share`] === null).toBe(risk[`${hazard}_level`] === null);
        expect(risk['seismic_zone_exact'] === null).toBe(risk['seismic_zone'] === null);
        expect([true, false, null]).toContain(risk['landslide_attention']);
      }
      for (const level of ['flood_level', 'landslide_level']) expect(new Set(risks.map((risk) => risk[level])).size).toBeGreaterThan(2);
    },
  },
  {
    about: OF_RECORD, says: 'has in economics the number of earners, and the average income is the total income divided by this number',
    holds: async (trial) => {
      const all = (await trial.records()).map(({ economics }) => economics as Record<string, number> | null).filter((each) => each !== null);
      expect(all.length).toBeGreaterThan(0);
      for (const { earners, total_income: total, average_income: average, level } of all as (Record<string, number> & { level: unknown })[]) {
        if (total !== null && earners) expect(average).toBeCloseTo(total! / earners, 1);
        expect(['cap', 'comune']).toContain(level);
      }
    },
  },
  {
    about: OF_RECORD, says: 'has in valuation the half-year of the zone perimeter, and in valuation_history 22 half-years, oldest first',
    holds: async (trial) => {
      const records = await trial.records();
      const quotations = records.flatMap(({ valuation }) => valuation as Json[]);
      expect(quotations.length).toBeGreaterThan(0);
      for (const { zone_perimeter_semester: perimeter } of quotations) expect(perimeter).toMatch(/^\d{4}_[12]$/);
      const histories = records
        .map(({ valuation_history: history }) => history as { semesters: { semester: string }[] } | null)
        .filter((each) => each !== null);
      for (const { semesters } of histories) {
        expect(semesters).toHaveLength(22);
        expect(semesters.map(({ semester }) => semester)).toEqual(semesters.map(({ semester }) => semester).sort());
      }
    },
  },
  {
    about: OF_RECORD, says: 'lists in coastal_erosion at most 5 segments within 1,000 m, nearest first, and only a segment without a rate has no severity',
    holds: async (trial) => {
      const all = (await trial.records()).map(
        ({ coastal_erosion: segments }) =>
          segments as { dynamic: string; avg_change_m_year: number | null; severity_index: number | null; distance_m: number }[],
      );
      expect(all.flat().filter(({ avg_change_m_year: rate }) => rate === null).length).toBeGreaterThan(0);
      for (const segments of all) {
        expect(segments.length).toBeLessThanOrEqual(5);
        expect(segments.filter(({ distance_m: distance }) => distance > 1_000)).toEqual([]);
        expect(segments.map(({ distance_m: distance }) => distance)).toEqual(ascending(segments.map(({ distance_m: distance }) => distance)));
        for (const { dynamic, avg_change_m_year: rate, severity_index: severity } of segments) {
          expect(rate === null).toBe(severity === null);
          if (rate === null) expect(dynamic).not.toBe('stable');
        }
      }
    },
  },

  // --- Coverage ---------------------------------------------------------------------------------------------------------
  {
    about: OF_COVERAGE, says: 'is stated for every section in meta, except that risk itself states it separately for pga, flood and landslide',
    holds: async (trial) => {
      for (const { risk, meta } of await trial.records()) {
        expect(Object.keys((meta as Json)['coverage'] as Json)).toEqual(SECTION_NAMES.filter((section) => section !== 'risk'));
        expect(Object.keys((risk as Json)['coverage'] as Json)).toEqual(['pga', 'flood', 'landslide']);
      }
      const { fid } = await trial.parcel();
      expect(metaOf(await trial.get(`/parcels/${fid}?include=economics,risk`))['coverage']).toMatchObject({ basic: 'mapped', economics: expect.stringMatching(/mapped|not_/) as string });
    },
  },
  {
    about: OF_COVERAGE, says: 'is mapped if basic, valuation, economics, demographics or address has a value, and can be mapped for a parcel without an address',
    holds: async (trial) => {
      const records = await trial.records();
      for (const record of records) {
        for (const section of ['basic', 'valuation', 'economics', 'demographics', 'address'] as const) {
          const value = record[section];
          if (value !== null && !(Array.isArray(value) && value.length === 0)) expect([section, (metaOf(record)['coverage'] as Json)[section]]).toEqual([section, 'mapped']);
        }
      }
      expect(records.some((record) => (record['address'] as Json[]).length === 0 && (metaOf(record)['coverage'] as Json)['address'] === 'mapped')).toBe(true);
    },
  },
];
