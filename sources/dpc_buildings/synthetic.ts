/**
 * Writes structural aggregates of the synthetic region: one shapefile for each comune whose buildings are only in this source. One shapefile is plain and
 * all other shapefiles are in a zip. One additional shapefile is of a comune in the national topographic database. A test fails if a section uses this
 * shapefile.
 */
import { join } from 'node:path';
import { BuildingTruth, buildingSource, buildingsOf } from '../../pipelines/synthetic/buildings.ts';
import { italyZone } from '../../pipelines/synthetic/map-projection.ts';
import { boxRing, mapPoints, type Polygon } from '../../pipelines/synthetic/plane-geometry.ts';
import type { SyntheticComune, SyntheticRegion } from '../../pipelines/synthetic/region.ts';
import { shapefileEntries, writeShapefile, type ShapefileFeature, type ShapefileLayer } from '../../pipelines/synthetic/shapefile-writer.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import { writeZip } from '../../pipelines/synthetic/zip-writer.ts';

/** Date in the publisher's files. */
const DAY = '2021-03-23';

function feature(region: SyntheticRegion, comune: SyntheticComune, number: number, polygon: Polygon): ShapefileFeature {
  const id = `${String(region.code).padStart(2, '0')}${comune.istatCode}${String(number * 100).padStart(12, '0')}`;
  return { geometry: { type: 'polygon', polygons: mapPoints([polygon], italyZone.forward) }, values: [id, number, comune.name] };
}

function* features(region: SyntheticRegion, comune: SyntheticComune): Generator<ShapefileFeature> {
  if (buildingSource(region, comune) === 'topographic') {
    yield feature(region, comune, 1, [boxRing(comune.box)]);
    return;
  }
  for (const { number, polygon } of buildingsOf(region, comune)) yield feature(region, comune, number, polygon);
}

function layer(region: SyntheticRegion, comune: SyntheticComune): ShapefileLayer {
  return {
    type: 'polygon', srid: 7794, encoding: null, modified: DAY,
    fields: [{ name: 'IDAG', type: 'text', length: 20 }, { name: 'Label', type: 'integer', length: 10 }, { name: 'Comune', type: 'text', length: 58 }],
    features: features(region, comune),
  };
}

const synthetic: Synthetic = {
  async write(region, folder) {
    const mine = region.comuni.filter((comune) => buildingSource(region, comune) === 'aggregates');
    const other = region.comuni.filter((comune) => buildingSource(region, comune) === 'topographic').slice(0, 1);
    const [plain, ...zipped] = [...mine, ...other];
    if (plain !== undefined) await writeShapefile(folder, plain.italianName, layer(region, plain));
    if (zipped.length === 0) return;
    await writeZip(join(folder, 'aggregati_strutturali.zip'), (function* () {
      for (const comune of zipped) yield* shapefileEntries(comune.italianName, layer(region, comune));
    })());
  },

  truth(region) {
    const buildings = new BuildingTruth(region);
    return (parcel) => {
      const source = buildingSource(region, parcel.comune);
      // The land register of Trento has roofs, but no other data about buildings.
      const found = source === 'aggregates' || source === 'register' ? buildings.of(parcel) : null;
      return {
        coverage: { buildings: source === null ? 'not_mapped' : 'mapped' },
        ...(found === null ? {} : {
          buildings: {
            count: found.count,
            footprint_m2: found.footprintM2,
            residential_count: null,
            residential_footprint_m2: null,
            built_share: found.builtShare,
          },
        }),
      };
    };
  },
};

export default synthetic;
