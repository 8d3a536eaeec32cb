import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'trento_cadastre',
  version: 2,
  title: 'Cadastral map of the Provincia autonoma di Trento',
  italianTitle: 'Mappa catastale della Provincia autonoma di Trento',
  attribution: {
    holder: HOLDERS.provinciaDiTrento,
    license: 'CC-BY-4.0',
    url: 'https://www.catasto.provincia.tn.it/',
    text: 'Provincia autonoma di Trento - Servizio Catasto (CC BY 4.0)',
  },
  vintageRule: 'the day in the name of the zip (`IDR0020240701_TIPOCATSH_CC001.zip` → `2024-07-01`), otherwise the day of the last change in the header of the .dbf',
  downloads: [
    { url: 'https://www.catasto.provincia.tn.it/', note: 'open data: one zip per comune catastale (`IDR00<YYYY>0101|0701_TIPOCATSH_CC<NNN>.zip`), published twice a year' },
  ],
  cadence: 'half-yearly',
  crs: 'the CRS in the .prj file: ETRS89 / UTM zone 32N (EPSG:25832)',
  keep: 'newest',
  ignored: {
    '*_vl_uniqueparcel_poly.shp': 'the parcels with merged pieces, which do not distinguish roofs and courts; mappale merges the pieces instead',
    PT_PUB: 'whether the piece may be published; all pieces in the file may be published',
    BD_PZ: 'type of the map (NTF)',
    BD_PUB: 'see PT_PUB',
    BD_PUB_IT: 'whether the map is official, as text',
    BD_PUB_DE: 'see BD_PUB_IT',
  },
  highValue: { category: 'geospatial', entry: '1, geospatial: cadastral parcels' },
  envelope: {
    // The smallest comuni catastali have several hundred pieces, and the largest (Trento, Pergine) have tens of thousands.
    records: { ccat: { max: 200_000 } },
    rejectShare: 0.001,
  },
  layers: ['trento_parcel', 'trento_piece', 'trento_boundary'],
};
