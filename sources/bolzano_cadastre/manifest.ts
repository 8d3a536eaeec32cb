import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'bolzano_cadastre',
  version: 2,
  title: 'Cadastral map of the Provincia autonoma di Bolzano',
  italianTitle: 'Mappa catastale della Provincia autonoma di Bolzano',
  attribution: {
    holder: HOLDERS.provinciaDiBolzano,
    license: 'CC0-1.0',
    url: 'https://geoportale.retecivica.bz.it/',
    text: 'Provincia autonoma di Bolzano - Alto Adige, mappa catastale',
  },
  vintageRule: 'the day or year in the name of the file. If the name has no date, the newest day of the zip\'s entries is used, then the day of the last change in the header of the .dbf. Without any of these days, the file is undated',
  downloads: [
    {
      url: 'https://geoservices1.civis.bz.it/geoserver/p_bz-Cadastre/ows?service=WFS&version=2.0.0&request=GetFeature&typeNames=p_bz-Cadastre:ParcelsAggregate&outputFormat=application/json&srsName=EPSG:4326',
      note: 'layer ParcelsAggregate of the open geodata service, as GeoJSON, GeoPackage or shapefile, for the whole province or some comuni catastali',
    },
  ],
  cadence: 'yearly',
  crs: 'the CRS that the file states, ETRS89 / UTM zone 32N (EPSG:25832); GeoJSON without a CRS is WGS 84 longitude, latitude',
  keep: 'newest',
  ignored: {
    'fid|id|gml_id|objectid': 'record numbers that the exporting program added',
    'shape_leng|shape_length|shape_area': 'length and area in the file\'s CRS; the area is measured from the polygon instead',
    bbox: 'bounding box of the feature; derived from the geometry',
  },
  // The publisher's columns describe the parcel. Programs that export or save the file add columns.
  optional: {
    'fid|id|gml_id|objectid': 'a program that exports the file may add one of these columns',
    'shape_leng|shape_length|shape_area': 'added by programs that export the file',
    bbox: 'only the service\'s GeoJSON has this column',
    'PART_CCAT_NOME_IT|PART_CCA01|PART_CCA_2|PART_CAMM_NOME_IT|PART_CAM00|PART_CAM_1': 'only some exports have the Italian names',
  },
  highValue: { category: 'geospatial', entry: '1, geospatial: cadastral parcels' },
  envelope: { records: { parcels: { max: 2_000_000 } }, rejectShare: 0.001 },
  layers: ['bolzano_parcel', 'bolzano_piece'],
};
