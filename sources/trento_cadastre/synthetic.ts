/**
 * Writes the cadastral map of Trento in the synthetic region: a zip for each comune catastale, with shapefiles in UTM zone 32, as the province publishes them.
 * A roof that is a separate piece is cut out of the court of its parcel. A parcel with two polygons has two pieces. The boundary has the corners of the
 * parcels, so that its area equals the total area of the parcels. The pieces are in random order.
 */
import { join } from 'node:path';
import { itemAt } from '../../pipelines/synthetic/items.ts';
import { etrsUtm32 } from '../../pipelines/synthetic/map-projection.ts';
import { covers, mapPoints, polygonsArea, polygonsAreaM2, ringArea, segmentsOf, type MultiPolygon, type Polygon, type Ring } from '../../pipelines/synthetic/plane-geometry.ts';
import { roofsOf, isRoof } from '../../pipelines/synthetic/roofs.ts';
import { shapefileEntries, type ShapefileFeature, type ShapefileField } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticComuneCatastale, SyntheticParcel, SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';

const RELEASE = '2026-01-01';
const text = (name: string, length: number): ShapefileField => ({ name, type: 'text', length });
const integer = (name: string, length: number): ShapefileField => ({ name, type: 'integer', length });

const PIECE: readonly ShapefileField[] = [text('PT_TYPE', 16), text('PT_CODE', 14), integer('PT_CCAT', 3), text('PT_FABB', 1), text('PT_PUB', 3)];
const BOUNDARY: readonly ShapefileField[] = [
  text('BD_PZ', 5), text('BD_PUB', 3), text('BD_PUB_IT', 254), text('BD_PUB_DE', 254), integer('BD_CCAT', 3), text('BD_NAME_IT', 80), text('BD_NAME_DE', 80), integer('BD_ISTAT', 5),
  text('BD_ADM_IT', 80), text('BD_ADM_DE', 80), integer('BD_SUMPART', 10),
];

/** A piece of a parcel. The coordinates of the polygons are in degrees. */
interface Piece {
  readonly type: 'P' | 'C';
  readonly roof: 'S' | 'N' | 'T';
  readonly polygons: MultiPolygon;
}

/** Returns the pieces of a parcel: the main piece, then the other pieces. */
export function piecesOf(parcel: SyntheticParcel): Piece[] {
  const [first, ...others] = parcel.polygons;
  const further = others.map((polygon): Piece => ({ type: 'C', roof: 'N', polygons: [polygon] }));
  if (isRoof(parcel.sheet, parcel)) return [{ type: 'P', roof: 'S', polygons: [first] }];
  const roofs = roofsOf(parcel);
  // The rings of holes run clockwise. The letter T occurs in files and does not mean a building.
  const court: Polygon = [...first, ...roofs.map(([ring]) => [...ring].reverse())];
  return [{ type: 'P', roof: parcel.index % 50 === 7 ? 'T' : 'N', polygons: [court] }, ...further, ...roofs.map((polygon): Piece => ({ type: 'C', roof: 'S', polygons: [polygon] }))];
}

/** Returns the outline of parcels that share their corners. A side that two parcels share is not a part of the outline. */
export function outlineOf(parcels: Iterable<SyntheticParcel>): MultiPolygon {
  const key = ([x, y]: readonly [number, number]): string => `${x} ${y}`;
  const sides = new Map<string, readonly [from: readonly [number, number], to: readonly [number, number]]>();
  for (const { polygons } of parcels) {
    for (const ring of polygons.flat()) {
      for (const [from, to] of segmentsOf(ring)) {
        const back = `${key(to)} ${key(from)}`;
        if (sides.has(back)) sides.delete(back);
        else sides.set(`${key(from)} ${key(to)}`, [from, to]);
      }
    }
  }
  const next = new Map<string, (readonly [number, number])[]>();
  for (const [from, to] of sides.values()) next.set(key(from), [...(next.get(key(from)) ?? []), to]);
  const rings: Ring[] = [];
  for (const [start, ways] of next) {
    while (ways.length > 0) {
      const [x, y] = start.split(' ').map(Number);
      const ring: (readonly [number, number])[] = [[x ?? 0, y ?? 0]];
      do {
        const way = next.get(key(itemAt(ring, ring.length - 1)))?.pop();
        if (way === undefined) throw new RangeError(`expected a side that starts at ${key(itemAt(ring, ring.length - 1))}, found none`);
        ring.push(way);
      } while (key(itemAt(ring, ring.length - 1)) !== start);
      rings.push(ring);
    }
  }
  const [outers, holes] = [rings.filter((ring) => ringArea(ring) > 0), rings.filter((ring) => ringArea(ring) < 0)];
  return outers.map((outer) => [outer, ...holes.filter((hole) => covers([[outer]], itemAt(hole, 0)))]);
}

const projected = (polygons: MultiPolygon): Polygon[] => mapPoints(polygons, etrsUtm32.forward);

/** Yields a shapefile as the province's program writes it: without a .cpg file, with language driver 3 and the day of the release. */
function* layer(path: string, fields: readonly ShapefileField[], features: Iterable<ShapefileFeature>): Generator<ZipEntry> {
  for (const [name, content] of shapefileEntries(path, { type: 'polygon', srid: 25832, encoding: null, modified: RELEASE, fields, features })) {
    if (name.endsWith('.dbf') && content instanceof Buffer) content[29] = 3;
    yield [name, content, { modified: RELEASE }];
  }
}

function parcelsOf(region: SyntheticRegion, of: SyntheticComuneCatastale): SyntheticParcel[] {
  return [...region.sheets(of.comune)].filter(({ comuneCatastale }) => comuneCatastale === of).flatMap((sheet) => [...region.parcelsOf(sheet)]);
}

function* entries(region: SyntheticRegion, of: SyntheticComuneCatastale): Generator<ZipEntry> {
  const { comune, code, name, otherName } = of;
  const parcels = parcelsOf(region, of);
  const feature = (polygons: MultiPolygon, values: ShapefileFeature['values']): ShapefileFeature => ({ geometry: { type: 'polygon', polygons: projected(polygons) }, values });
  const pieces = parcels.flatMap((parcel) => piecesOf(parcel).map((piece) => feature(piece.polygons, [piece.type, parcel.label, Number(code), piece.roof, 'YES'])));
  const shuffled = region.random('trento', code);
  const order = pieces.map((piece) => ({ piece, turn: shuffled.next() })).sort((a, b) => a.turn - b.turn).map(({ piece }) => piece);
  yield* layer(`${code}_vl_parcel_poly`, PIECE, order);
  yield* layer(`${code}_vl_uniqueparcel_poly`, PIECE, parcels.map((parcel) => feature(parcel.polygons, ['P', parcel.label, Number(code), null, 'YES'])));
  yield* layer(`${code}_vl_boundary`, BOUNDARY, [feature(outlineOf(parcels), [
    'NTF', 'YES', 'UFFICIALE', 'OFFIZIELL', Number(code), name, otherName, Number(comune.istatCode), comune.italianName.toUpperCase(), otherName === null ? null : comune.otherName?.toUpperCase() ?? null,
    parcels.length,
  ])]);
}

/** Returns the area of polygons in square metres of the files' projection. */
export function drawnAreaM2(polygons: MultiPolygon): number {
  return polygonsArea(projected(polygons));
}

const synthetic: Synthetic = {
  async write(region, folder) {
    for (const of of region.comuniCatastali) {
      if (of.comune.province.sigla !== 'TN') continue;
      await writeZip(join(folder, `IDR00${RELEASE.replaceAll('-', '')}_TIPOCATSH_CC${of.code}.zip`), entries(region, of));
    }
  },

  truth() {
    return ({ comune, sheet: { comuneCatastale }, label, reference, kind, polygons }) => {
      if (comuneCatastale === null || comune.province.sigla !== 'TN') return {};
      return {
        basic: {
          gml_id: reference, label, cadastral_reference: reference, kind, polygons, area_m2: polygonsAreaM2(polygons),
          cadastral: {
            comune_catastale: { code: comuneCatastale.code, name: comuneCatastale.name }, kind: label.startsWith('.') ? 'building' : 'land', comune_code: comune.belfiore,
          },
        },
      };
    };
  },
};
export default synthetic;
