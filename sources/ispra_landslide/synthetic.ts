/**
 * Writes two editions of the synthetic region's landslide mosaic. The shapefile of 2020–2021 is older and must not be served. The edition of 2024 is a
 * GeoPackage. A polygon has one class, but polygons of two authorities overlap and have different classes. Each comune has an area of each class, so that
 * a map of a part of Italy covers the comune.
 */
import { join } from 'node:path';
import { boxArea, CellGrid, crossedArea, holedArea, jaggedArea, spikedArea, zonesByBlock, type CellArea } from '../../pipelines/synthetic/cell-zones.ts';
import { utm32 } from '../../pipelines/synthetic/map-projection.ts';
import { mapPoints, type Polygon } from '../../pipelines/synthetic/plane-geometry.ts';
import { shapefileEntries } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { writeGeoPackage } from '../../pipelines/synthetic/geopackage-writer.ts';
import type { SyntheticRegion, SyntheticComune, SyntheticParcel } from '../../pipelines/synthetic/region.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

const BLOCK = 40;
const NAME = 'Mosaicatura_ISPRA_2024_pericolosita_frana_PAI';
const OLDER_NAME = 'Mosaicatura_ISPRA_2020_2021_aree_pericolosita_frana_PAI';

type Class = 'P4' | 'P3' | 'P2' | 'P1' | 'AA';
interface Zone {
  /** Class of the area; null if the publisher did not determine the class. */
  readonly class: Class | null;
  readonly label: string | null;
  readonly area: CellArea;
}

const LABELS: Readonly<Record<Class, string>> = { P4: 'Molto elevata P4', P3: 'Elevata P3', P2: 'Media P2', P1: 'Moderata P1', AA: 'Aree di Attenzione AA' };

/** Returns all areas of the block whose south-west cell is (x, y). */
function zones(x: number, y: number): Zone[] {
  const of = (level: Class, area: CellArea): Zone => ({ class: level, label: LABELS[level], area });
  return [
    // A hazard area with many vertices. An area with a higher class overlaps a part of this area.
    of('P2', jaggedArea([x + 1.5, y + 16.5, x + 20.5, y + 19.5], 16)),
    of('P4', boxArea([x + 10.5, y + 15.5, x + 24.5, y + 18.5])),
    of('P3', holedArea([x + 26.5, y + 16.5, x + 34.5, y + 24.5], [x + 28.5, y + 18.5, x + 32.5, y + 22.5])),
    of('AA', boxArea([x + 29.5, y + 19.5, x + 31.5, y + 21.5])),
    // An area of attention that overlaps an area with a class. The area with a class determines the class of the parcel.
    of('AA', boxArea([x + 1.5, y + 30.5, x + 6.5, y + 35.5])),
    of('P1', boxArea([x + 4.5, y + 33.5, x + 9.5, y + 38.5])),
    of('P3', crossedArea(x + 14.5, y + 30.5)),
    of('P1', spikedArea([x + 22.5, y + 30.5, x + 24.5, y + 32.5], 4)),
    of('P2', boxArea([x + 28.5, y + 32.5, x + 29.5, y + 33.5], [x + 31.5, y + 32.5, x + 32.5, y + 33.5])),
    // Two areas without a determined class. The first area overlaps the last area of this list. The second area overlaps no other area.
    { class: null, label: 'Pn.d.', area: boxArea([x + 34.5, y + 30.5, x + 38.5, y + 34.5]) },
    { class: null, label: null, area: boxArea([x + 34.5, y + 35.5, x + 36.5, y + 37.5]) },
    of('P2', boxArea([x + 36.5, y + 32.5, x + 39.5, y + 33.5])),
  ];
}

/** Returns an area of each class, in the south-western corner of a comune. */
function slope(grid: CellGrid, comune: SyntheticComune): Zone[] {
  const [x, y] = grid.cornerOf(comune);
  return (['P4', 'P3', 'P2', 'P1', 'AA'] as const).map((level, i) => ({ class: level, label: LABELS[level], area: boxArea([x + 0.5 + 2 * i, y + 0.5, x + 1.5 + 2 * i, y + 1.5]) }));
}

/** Returns whether a hazard area has the outline of the parcel. Each block has one such parcel. Neighbouring parcels touch the area along their borders. */
function isDrawn(grid: CellGrid, parcel: SyntheticParcel): boolean {
  return grid.cellsOf(parcel).some(([column, row]) => column % BLOCK === 18 && row % BLOCK === 26);
}

/** A row of the mosaic with its polygons in UTM zone 32. */
interface Row {
  readonly label: string | null;
  readonly polygons: readonly Polygon[];
}

function* records(region: SyntheticRegion): Generator<Row> {
  const grid = new CellGrid(region);
  const written = ({ label, area }: Zone): Row => ({ label, polygons: grid.drawn(area, utm32) });
  for (let y = 0; y < grid.rows; y += BLOCK) {
    for (let x = 0; x < grid.columns; x += BLOCK) yield* zones(x, y).map(written);
  }
  for (const comune of region.comuni) yield* slope(grid, comune).map(written);
  for (const parcel of region.parcels()) {
    if (!isDrawn(grid, parcel)) continue;
    yield { label: LABELS.P4, polygons: mapPoints(parcel.polygons, utm32.forward) };
  }
}

/** English names of the classes in the additional column of the files. */
const ENGLISH: Readonly<Record<string, string>> = { P4: 'Very high P4', P3: 'High P3', P2: 'Medium P2', P1: 'Moderate P1', AA: 'Attention areas AA' };
const english = (label: string | null): string | null => (label === null ? null : (ENGLISH[label.slice(label.lastIndexOf(' ') + 1)] ?? null));

const synthetic: Synthetic = {
  async write(region, folder) {
    const grid = new CellGrid(region);
    // The older edition has the same class everywhere in the region. A test fails if this edition is served by mistake.
    const everywhere = utmRing(grid);
    await writeZip(join(folder, `${OLDER_NAME}.zip`), shapefileEntries(`${OLDER_NAME}/${OLDER_NAME}`, {
      type: 'polygon', srid: 32632, encoding: null, fields: [{ name: 'per_fr_ita', type: 'text', length: 50 }],
      features: [{ geometry: { type: 'polygon', polygons: [[everywhere]] }, values: [LABELS.P1] }],
    }));
    await writeGeoPackage(join(folder, `${NAME}.gpkg`), [{
      name: NAME, srid: 32632, geometry: 'MultiPolygon',
      fields: [{ name: 'per_fr_ita', type: 'string' }, { name: 'per_fr_eng', type: 'string' }],
      features: (function* () {
        for (const { label, polygons } of records(region)) yield { values: [label, english(label)], geometry: { type: 'MultiPolygon', coordinates: polygons } };
      })(),
    }]);
  },

  truth(region) {
    const grid = new CellGrid(region);
    const around = zonesByBlock(BLOCK, zones);
    return (parcel) => {
      const own = slope(grid, parcel.comune);
      const met = grid.meeting(parcel, (cell) => [...around(cell), ...own]);
      const has = (level: Class | null): boolean => [...met].some((zone) => zone.class === level);
      const drawn = isDrawn(grid, parcel);
      const level = drawn ? 'P4' : ((['P4', 'P3', 'P2', 'P1', 'AA'] as const).find(has) ?? null);
      const share = level === null ? null : drawn ? 1 : grid.shareOf(parcel, [...met].filter((zone) => zone.class === level).map(({ area }) => area));
      // An area of undetermined class means that a hazard of unknown level exists. If a parcel overlaps only areas without a class, the level of
      // the parcel is unknown.
      const unknown = level === null && has(null);
      return { risk: { landslide_level: level, landslide_share: share, landslide_attention: has('AA') ? true : unknown ? null : false, coverage: { landslide: unknown ? 'not_mapped' : 'mapped' } } };
    };
  },
};

function utmRing(grid: CellGrid): (readonly [number, number])[] {
  const corners = [[-0.5, -0.5], [grid.columns + 0.5, -0.5], [grid.columns + 0.5, grid.rows + 0.5], [-0.5, grid.rows + 0.5], [-0.5, -0.5]] as const;
  return corners.map((corner) => utm32.forward(grid.degrees(corner)));
}

export default synthetic;
