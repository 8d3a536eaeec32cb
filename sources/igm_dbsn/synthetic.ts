/**
 * Writes the national topographic database of the synthetic region: one province in a zip, as IGM packs it. The zip contains two layers of buildings with
 * heights, and an empty layer that must not be read. The file can be neither written nor read without GDAL.
 */
import { join } from 'node:path';
import { BuildingTruth, buildingSource, buildingsOf, type SyntheticBuilding } from '../../pipelines/synthetic/buildings.ts';
import { geodatabaseEntries } from '../../pipelines/synthetic/geodatabase-writer.ts';
import type { WrittenLayer } from '../../pipelines/synthetic/geopackage-writer.ts';
import { cyclicItem } from '../../pipelines/synthetic/items.ts';
import { italyZone } from '../../pipelines/synthetic/map-projection.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

const DAY = '2025-07-28';
const TYPES = ['01', '04', '05', '08', '09', '11', '93'] as const;
/** The code 21 is OpenStreetMap. */
const ORIGINS = ['01', '02', '21'] as const;

const FIELDS: WrittenLayer['fields'] = [
  ...['edifc_uso', 'edifc_ty', 'edifc_sot', 'classid', 'edifc_nome', 'edifc_stat'].map((name) => ({ name, type: 'string' as const })),
  { name: 'edifc_at', type: 'real' }, { name: 'scril', type: 'string' }, { name: 'meta_ist', type: 'string' }, { name: 'edifc_mon', type: 'string' },
];

function* buildings(region: SyntheticRegion, part: (building: SyntheticBuilding) => boolean): Generator<SyntheticBuilding & { readonly belfiore: string }> {
  for (const comune of region.comuni) {
    if (buildingSource(region, comune) !== 'topographic') continue;
    for (const building of buildingsOf(region, comune)) if (part(building)) yield { ...building, belfiore: comune.belfiore };
  }
}

/** @param part returns whether the layer contains a building */
function layer(region: SyntheticRegion, name: string, part: (building: SyntheticBuilding) => boolean): WrittenLayer {
  return {
    name, srid: 7794, geometry: 'MultiPolygon25D', fields: FIELDS,
    // Coordinates are rounded to 10⁻⁸ m, so that the expected values match the written numbers.
    options: ['XORIGIN=6000000', 'YORIGIN=3000000', 'XYSCALE=100000000'],
    features: (function* () {
      for (const { number, polygon, use, state, underground, name: called, belfiore } of buildings(region, part)) {
        yield {
          values: [
            use, cyclicItem(TYPES, number), underground ? '02' : '01', `DBSN ${belfiore} ${number}`, called ?? 'UNK', state,
            number % 5 === 0 ? 6.5 : -9999, '04', cyclicItem(ORIGINS, number), '02',
          ],
          geometry: { type: 'MultiPolygon', coordinates: [polygon.map((ring) => ring.map((point) => [...italyZone.forward(point), 100]))] },
        };
      }
    })(),
  };
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const [province] = region.provinces.filter(({ sigla }) => sigla === 'IS');
    if (province === undefined) return;
    const other: WrittenLayer = { name: 'edi_min', srid: 7794, geometry: 'MultiPolygon25D', fields: [{ name: 'edi_min_ty', type: 'string' }], features: [] };
    const entries = geodatabaseEntries(`${province.name}_dbsn.gdb`, [
      layer(region, 'edifc', ({ number }) => number % 10 !== 0), other, layer(region, 'edifc_1', ({ number }) => number % 10 === 0),
    ], { modified: DAY });
    await writeZip(join(folder, `${province.sigla}_dbsn_${DAY}.zip`), entries);
  },

  truth(region) {
    const truth = new BuildingTruth(region);
    return (parcel) => {
      const found = buildingSource(region, parcel.comune) === 'topographic' ? truth.of(parcel) : null;
      if (found === null) return {};
      const { count, footprintM2, residentialCount, residentialM2, builtShare } = found;
      return {
        buildings: { count, footprint_m2: footprintM2, residential_count: residentialCount, residential_footprint_m2: residentialM2, built_share: builtShare },
      };
    };
  },
};

export default synthetic;
