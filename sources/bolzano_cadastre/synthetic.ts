/**
 * Writes the land register of the synthetic region's Bolzano: the layer ParcelsAggregate of the province's service as GeoJSON, in degrees. A parcel
 * with two polygons is written as two records, as in the service's layer for drawing.
 */
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { polygonsAreaM2 } from '../../pipelines/synthetic/plane-geometry.ts';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticComuneCatastale, SyntheticParcel, SyntheticRegion } from '../../pipelines/synthetic/region.ts';

const NAME = 'ParcelsAggregate.geojson';

function records({ label, comuneCatastale, polygons, comune }: SyntheticParcel & { readonly comuneCatastale: SyntheticComuneCatastale }): unknown[] {
  const properties = {
    PART_CODICE: label,
    PART_AREA_TOTALE: Math.round(polygonsAreaM2(polygons)),
    PART_CCAT_CODICE: comuneCatastale.code,
    PART_CCAT_NOME_DE: comuneCatastale.otherName,
    PART_CAMM_NOME_DE: comune.otherName,
    // The code is written as a number, so the leading zero is lost.
    PART_ISTAT: Number(comune.istatCode),
  };
  return polygons.map((polygon) => ({ type: 'Feature', properties, geometry: { type: 'Polygon', coordinates: polygon } }));
}

function* collection(region: SyntheticRegion): Generator<string> {
  yield '{"type":"FeatureCollection","name":"ParcelsAggregate","features":[\n';
  let first = true;
  for (const parcel of region.parcels()) {
    const { comuneCatastale } = parcel.sheet;
    if (comuneCatastale === null || parcel.comune.province.sigla !== 'BZ') continue;
    for (const record of records({ ...parcel, comuneCatastale })) {
      yield `${first ? '' : ',\n'}${JSON.stringify(record)}`;
      first = false;
    }
  }
  yield '\n]}\n';
}

const synthetic: Synthetic = {
  async write(region, folder) {
    if (!region.comuniCatastali.some(({ comune }) => comune.province.sigla === 'BZ')) return;
    await pipeline(Readable.from(collection(region)), createWriteStream(join(folder, NAME)));
  },

  truth() {
    return ({ comune, sheet: { comuneCatastale }, label, reference, kind, polygons }) => {
      if (comuneCatastale === null || comune.province.sigla !== 'BZ') return {};
      return {
        basic: {
          gml_id: reference, label, cadastral_reference: reference, kind, polygons, area_m2: polygonsAreaM2(polygons),
          // The file has no Italian names, so the expected name is the German name.
          cadastral: { comune_catastale: { code: comuneCatastale.code, name: comuneCatastale.otherName }, kind: label.startsWith('.') ? 'building' : 'land', comune_code: comune.belfiore },
        },
      };
    };
  },
};
export default synthetic;
