/**
 * Writes the synthetic region's flood mosaic as ISPRA packs it: a folder with the licence and one shapefile per scenario. An additional shapefile contains
 * areas without a class. Along every valley, there are three nested, jagged areas with many vertices across the whole region. The areas with quirks are
 * between the valleys. Each comune has an area of each scenario, so that a map of a part of Italy covers the comune.
 */
import { join } from 'node:path';
import { boxArea, CellGrid, crossedArea, holedArea, jaggedArea, spikedArea, zonesByBlock, type CellArea } from '../../pipelines/synthetic/cell-zones.ts';
import { laeaEurope } from '../../pipelines/synthetic/map-projection.ts';
import { mapPoints } from '../../pipelines/synthetic/plane-geometry.ts';
import { shapefileEntries, type ShapefileFeature, type ShapefileLayer } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticComune, SyntheticParcel, SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { writeZip, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';

/**
 * The quirks repeat in square blocks with sides of `block` cells. The valley also repeats, in the southern 16 rows of each block. Italy has one polygon per
 * thousand parcels, floods cover a tenth of the country, and outlines have a corner about every 20 m. A dense region has nine times as many quirks per
 * area, and outlines with a corner about every 5 m.
 */
const DENSE = { block: 40, cornersPerCell: 8 };
const USUAL = { block: 120, cornersPerCell: 2 };
const FOLDER = 'Mosaicatura_ISPRA_2020_aree_pericolosita_idraulica';

type Class = 'P1' | 'P2' | 'P3' | 'HPH';
interface Zone {
  readonly class: Class;
  readonly area: CellArea;
  /** Text of the column as published; null if blank. */
  readonly scenario: string | null;
}

const WORDS = { P3: ['elevata', 'High'], P2: ['media', 'Medium'], P1: ['bassa', 'Low'] } as const;

type Spelling = 'ascii' | 'accented';

/** Returns the text that names a scenario in the class column. Both spellings occur in the published files. */
function scenario(level: 'P1' | 'P2' | 'P3', spelling: Spelling): string {
  const [italian, english] = WORDS[level];
  return `${spelling === 'ascii' ? "Pericolosita'" : 'Pericolosità'} idraulica ${italian} - ${english}ProbabilityHazard`;
}

/** Returns the three nested areas of the valley that starts at row `south`. The valley extends between two columns, which both end in .5. */
function valley(cornersPerCell: number, south: number, west: number, east: number): Zone[] {
  return [
    { class: 'P1', area: jaggedArea([west, south + 3.5, east, south + 15.5], cornersPerCell), scenario: scenario('P1', 'accented') },
    { class: 'P2', area: jaggedArea([west, south + 5.5, east, south + 13.5], cornersPerCell), scenario: scenario('P2', 'accented') },
    // The text is blank, so the class is in the file's name.
    { class: 'P3', area: jaggedArea([west, south + 8.5, east, south + 10.5], cornersPerCell), scenario: null },
  ];
}

/** Returns the areas between the valleys, in the block whose south-west cell is (x, y). */
function quirks(x: number, y: number): Zone[] {
  const P = (level: 'P1' | 'P2' | 'P3', area: CellArea, spelling: Spelling = 'ascii'): Zone => ({ class: level, area, scenario: scenario(level, spelling) });
  return [
    // A parcel inside the hole of an area is not in the area.
    P('P1', holedArea([x + 10.5, y + 20.5, x + 18.5, y + 28.5], [x + 12.5, y + 22.5, x + 16.5, y + 26.5])),
    P('P2', crossedArea(x + 22.5, y + 20.5)),
    // A record with two polygons.
    P('P1', boxArea([x + 28.5, y + 20.5, x + 30.5, y + 22.5], [x + 32.5, y + 24.5, x + 34.5, y + 26.5]), 'accented'),
    // Two areas of one class that overlap.
    P('P2', boxArea([x + 28.5, y + 29.5, x + 30.5, y + 31.5])),
    P('P2', boxArea([x + 29.5, y + 29.5, x + 31.5, y + 31.5]), 'accented'),
    P('P3', spikedArea([x + 2.5, y + 30.5, x + 4.5, y + 32.5], 4)),
    // An area without a class in the text and in the file name. An area with a class covers a part of this area.
    { class: 'HPH', area: boxArea([x + 36.5, y + 20.5, x + 38.5, y + 26.5]), scenario: null },
    P('P1', boxArea([x + 37.5, y + 20.5, x + 39.5, y + 22.5])),
  ];
}

/** Returns the three nested areas along the brook of a comune, in the south-western corner of the comune. */
function brook(grid: CellGrid, comune: SyntheticComune): Zone[] {
  const [x, y] = grid.cornerOf(comune);
  return (['P1', 'P2', 'P3'] as const).map((level, i) => ({ class: level, area: boxArea([x + 0.5, y + 0.5, x + 3.5 - i, y + 1.5]), scenario: scenario(level, 'accented') }));
}

function* zones(region: SyntheticRegion): Generator<Zone> {
  const grid = new CellGrid(region);
  const { block, cornersPerCell } = region.dense ? DENSE : USUAL;
  for (let y = 0; y < grid.rows; y += block) {
    // The valleys extend beyond the region on both sides.
    yield* valley(cornersPerCell, y, -10.5, grid.columns + 10.5);
    for (let x = 0; x < grid.columns; x += block) yield* quirks(x, y);
  }
  for (const comune of region.comuni) yield* brook(grid, comune);
}

/**
 * Returns whether a flood area has the outline of the parcel. Each block has one such parcel. Neighbouring parcels touch the area along their borders but
 * do not overlap the area.
 */
function isDrawn({ dense }: SyntheticRegion, grid: CellGrid, parcel: SyntheticParcel): boolean {
  const { block } = dense ? DENSE : USUAL;
  return grid.cellsOf(parcel).some(([column, row]) => column % block === 6 && row % block === 24);
}

function layer(region: SyntheticRegion, level: Class, encoding: ShapefileLayer['encoding']): ShapefileLayer {
  const grid = new CellGrid(region);
  function* features(): Generator<ShapefileFeature> {
    for (const zone of zones(region)) {
      if (zone.class !== level) continue;
      yield { geometry: { type: 'polygon', polygons: grid.drawn(zone.area, laeaEurope) }, values: [zone.scenario] };
    }
    if (level !== 'P2') return;
    for (const parcel of region.parcels()) {
      if (isDrawn(region, grid, parcel)) yield { geometry: { type: 'polygon', polygons: mapPoints(parcel.polygons, laeaEurope.forward) }, values: [scenario('P2', 'ascii')] };
    }
  }
  return { type: 'polygon', srid: 3035, fields: [{ name: 'scenario', type: 'text', length: 80 }], features: features(), ...(encoding === undefined ? {} : { encoding }) };
}

const ORDER: readonly Class[] = ['P3', 'P2', 'P1', 'HPH'];

const synthetic: Synthetic = {
  async write(region, folder) {
    const name = (prefix: string, word: string): string => `${FOLDER}/${prefix}Mosaicatura_ISPRA_2020_pericolosita_idraulica_${word}`;
    await writeZip(join(folder, `${FOLDER}.zip`), (function* (): Generator<ZipEntry> {
      yield* shapefileEntries(name('HPH_', 'elevata'), layer(region, 'P3', 'utf-8'));
      // The table is encoded as in old editions: latin1 without a .cpg file.
      yield* shapefileEntries(name('MPH_', 'media'), layer(region, 'P2', null));
      yield* shapefileEntries(name('LPH_', 'bassa'), layer(region, 'P1', 'latin1'));
      yield* shapefileEntries(name('', 'senza_scenario'), layer(region, 'HPH', 'utf-8'));
      yield [`${FOLDER}/Licenza_Condizioni_Uso.pdf`, '%PDF-1.4\n% synthetic\n'];
    })());
  },

  truth(region) {
    const grid = new CellGrid(region);
    // The zones of a block include only the part of the valley that the block's cells can touch. This part has the same corners as the whole valley.
    const { block, cornersPerCell } = region.dense ? DENSE : USUAL;
    const around = zonesByBlock(block, (x, y) => [...valley(cornersPerCell, y, x - 2.5, x + block + 2.5), ...quirks(x, y)]);
    return (parcel) => {
      const own = brook(grid, parcel.comune);
      const met = grid.meeting(parcel, (cell) => [...around(cell), ...own]);
      const drawn = isDrawn(region, grid, parcel);
      const level = ORDER.find((each) => (each === 'P2' && drawn) || [...met].some((zone) => zone.class === each)) ?? null;
      const share = level === null ? null : level === 'P2' && drawn ? 1 : grid.shareOf(parcel, [...met].filter((zone) => zone.class === level).map(({ area }) => area));
      // No province of the synthetic region lacks a scenario.
      return { risk: { flood_level: level, flood_share: share, coverage: { flood: 'mapped' } } };
    };
  },
};

export default synthetic;
