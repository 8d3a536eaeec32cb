/**
 * Writes the boundaries of the synthetic region as Istat publishes them: one zip with a folder per level, and shapefiles in UTM zone 32. The quirks are a code
 * without its leading zero and an invalid polygon with a spike. The zip also contains the groups of regions, which are ignored.
 */
import { join } from 'node:path';
import { cyclicItem, itemAt } from '../../pipelines/synthetic/items.ts';
import { utm32 } from '../../pipelines/synthetic/map-projection.ts';
import type { Polygon } from '../../pipelines/synthetic/plane-geometry.ts';
import { shapefileEntries, type ShapefileField } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { LonLat, SyntheticRegion, SyntheticComune } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

const EDITION = '01012026';
/**
 * Distance in degrees between the points of an outline, about 500 m. The points are needed because the side of a box is straight in degrees and curved in UTM.
 */
const STEP = 0.005;

/**
 * Returns the points from one corner to the next, without the last point. Both directions give the same points, so that two neighbouring comuni share
 * the edge.
 */
function side([x1, y1]: LonLat, [x2, y2]: LonLat): LonLat[] {
  if (x1 === x2 && y1 === y2) return [];
  const pieces = Math.max(1, Math.round(Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1)) / STEP));
  return Array.from({ length: pieces }, (_, index): LonLat => [x1 + ((x2 - x1) * index) / pieces, y1 + ((y2 - y1) * index) / pieces]);
}

/** Returns the common outline of comuni in degrees. The comuni must fill whole rows of boxes without gaps. */
function outline(comuni: readonly SyntheticComune[]): LonLat[] {
  const rows = new Map<number, [number, number, number]>();
  for (const { box: [west, south, east, north] } of comuni) {
    const row = rows.get(north);
    rows.set(north, row === undefined ? [west, east, south] : [Math.min(row[0], west), Math.max(row[1], east), south]);
  }
  const sorted = [...rows].sort(([a], [b]) => b - a);
  const left = sorted.flatMap(([north, [west, , south]]): LonLat[] => [[west, north], [west, south]]);
  const right = sorted.flatMap(([north, [, east, south]]): LonLat[] => [[east, north], [east, south]]).reverse();
  const corners = [...left, ...right];
  const ring = corners.flatMap((corner, index) => side(corner, cyclicItem(corners, index + 1)));
  return [...ring, itemAt(ring, 0)];
}

const projected = (ring: readonly LonLat[]): Polygon => [ring.map((point) => utm32.forward(point))];

/** Adds a spike of 200 m to the polygon. The spike encloses no area and makes the polygon invalid. */
function withSpike(polygon: Polygon): Polygon {
  return polygon.map((ring) => {
    const [x, y] = itemAt(ring, 1);
    return [...ring.slice(0, 2), [x + 200, y], ...ring.slice(1)];
  });
}

const integer = (name: string): ShapefileField => ({ name, type: 'integer', length: 10 });
const text = (name: string, length: number): ShapefileField => ({ name, type: 'text', length });
const real = (name: string): ShapefileField => ({ name, type: 'real', length: 19, decimals: 11 });

const synthetic: Synthetic = {
  async write(region: SyntheticRegion, folder: string) {
    const path = (level: string): string => `Limiti${EDITION}_g/${level}${EDITION}_g/${level}${EDITION}_g_WGS84`;
    const feature = (polygon: Polygon, values: readonly (string | number | null)[]) => ({ geometry: { type: 'polygon', polygons: [polygon] } as const, values });
    await writeZip(join(folder, `Limiti${EDITION}_g.zip`), [
      ...shapefileEntries(path('Com'), {
        type: 'polygon',
        srid: 32632,
        fields: [
          integer('COD_RIP'), integer('COD_REG'), integer('COD_PROV'), integer('COD_CM'), integer('COD_UTS'), integer('PRO_COM'), text('PRO_COM_T', 6),
          text('COMUNE', 100), text('COMUNE_A', 100), integer('CC_UTS'), real('Shape_Leng'), real('Shape_Area'),
        ],
        features: region.comuni.map((comune) => {
          const polygon = projected(outline([comune]));
          const province = Number(comune.province.code);
          const code = comune.index === 1 ? String(Number(comune.istatCode)) : comune.istatCode;
          return feature(comune.index === 1 ? withSpike(polygon) : polygon, [
            4, region.code, province, 0, province, Number(comune.istatCode), code, comune.italianName, comune.otherName, 0, 0, 0,
          ]);
        }),
      }),
      ...shapefileEntries(path('ProvCM'), {
        type: 'polygon',
        srid: 32632,
        fields: [
          integer('COD_RIP'), integer('COD_REG'), integer('COD_PROV'), integer('COD_CM'), integer('COD_UTS'), text('DEN_PROV', 50), text('DEN_CM', 50),
          text('DEN_UTS', 50), text('SIGLA', 2), text('TIPO_UTS', 50), real('Shape_Leng'), real('Shape_Area'),
        ],
        features: region.provinces.map((province) => {
          const comuni = region.comuni.filter((comune) => comune.province.code === province.code);
          const code = Number(province.code);
          return feature(projected(outline(comuni)), [4, region.code, code, 0, code, province.name, '-', province.name, province.sigla, 'Provincia', 0, 0]);
        }),
      }),
      ...shapefileEntries(path('Reg'), {
        type: 'polygon',
        srid: 32632,
        fields: [integer('COD_RIP'), integer('COD_REG'), text('DEN_REG', 50), real('Shape_Leng'), real('Shape_Area')],
        features: [feature(projected(outline(region.comuni)), [4, region.code, region.name, 0, 0])],
      }),
      ...shapefileEntries(path('RipGeo'), {
        type: 'polygon',
        srid: 32632,
        fields: [integer('COD_RIP'), text('DEN_RIP', 50), real('Shape_Leng'), real('Shape_Area')],
        features: [feature(projected(outline(region.comuni)), [4, 'Sud', 0, 0])],
      }),
    ]);
  },
};
export default synthetic;
