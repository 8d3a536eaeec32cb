import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'trento_cadastre',
  version: 2,
  title: 'Cadastral map of the Provincia autonoma di Trento',
  attribution: {
    holder: HOLDERS.provinciaDiTrento,
    license: 'CC-BY-4.0',
    url: 'https://www.catasto.provincia.tn.it/',
    text: 'Provincia autonoma di Trento - Servizio Catasto (CC BY 4.0)',
  },
  vintageRule: 'the day in the name of the zip (`IDR0020240701_TIPOCATSH_CC001.zip` → `2024-07-01`), otherwise the day of the last change in the header of the .dbf',
  downloads: [
    { url: 'https://www.catasto.provincia.tn.it/', note: 'open data: one zip per comune catastale, `IDR00<YYYY>0101|0701_TIPOCATSH_CC<NNN>.zip`, twice a year' },
  ],
  cadence: 'half-yearly',
  crs: 'ETRS89 / UTM zone 32N (EPSG:25832), as the .prj states',
  keep: 'newest',
  ignored: {
    '*_vl_uniqueparcel_poly.shp': 'the parcels with their pieces merged, without the distinction of roof and court; the pieces are merged here instead',
    PT_PUB: 'whether the piece may be published; all pieces in the file may',
    BD_PZ: 'kind of the map (NTF)',
    BD_PUB: 'see PT_PUB',
    BD_PUB_IT: 'official or not, as text',
    BD_PUB_DE: 'see BD_PUB_IT',
  },
  highValue: { category: 'geospatial', entry: '1, geospatial: cadastral parcels' },
  envelope: {
    // The smallest comuni catastali have some hundred pieces, the largest (Trento, Pergine) some ten thousand.
    records: { ccat: { max: 200_000 } },
    rejectShare: 0.001,
  },
  layers: ['trento_parcel', 'trento_piece', 'trento_boundary'],
};
