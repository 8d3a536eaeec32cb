import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'clc_land_cover',
  version: 2,
  title: 'CORINE Land Cover 2018, vector',
  italianTitle: 'CORINE Land Cover 2018, vettoriale',
  attribution: {
    holder: HOLDERS.copernicus,
    license: 'Copernicus full, free and open',
    url: 'https://doi.org/10.2909/71c95a07-e296-44fc-b22b-415f42acfdf0',
    text:
      "Generated using European Union's Copernicus Land Monitoring Service information; https://doi.org/10.2909/71c95a07-e296-44fc-b22b-415f42acfdf0. "
      + 'Cut to cadastral parcels. This product is not endorsed by the European Union.',
  },
  vintageRule: 'the year after CLC in the name (U2018_CLC2018_V2020_20u1 is 2018). V2020_20u1 is the issue. Only the map of 2018 is read. In a file with several layers, the layer of 2018 is read (clc18_it)',
  downloads: [
    {
      url: 'https://land.copernicus.eu/en/products/corine-land-cover/clc2018',
      note: 'Download with an EU Login: vector, Europe, as GeoPackage (u2018_clc2018_v2020_20u1_geoPackage.zip). The layer cut to Italy as GeoPackage, shapefile or GeoJSON is accepted too',
    },
  ],
  cadence: 'every six years',
  crs: 'the CRS that the file states; EPSG:3035 (ETRS89-LAEA) as published',
  keep: 'newest',
  ignored: {
    'Remark*': 'notes of the interpreters, which are empty in the published file',
    'Area_Ha*': 'area in hectares; mappale measures the area of the kept polygon instead',
    'objectid*': 'row number added by the program that wrote the file',
    fid: 'see objectid',
    'shape_*': 'length and area in the file\'s CRS; not used for the same reason as Area_Ha',
  },
  optional: { id: 'missing in files that were cut', 'objectid*': 'added by exports from a database', fid: 'added by exports from a database', 'shape_*': 'added by exports from a database; shapefiles and GeoPackages have different names' },
  envelope: { records: { map: { min: 2_000_000, max: 3_000_000 } }, rejectShare: 0.001 },
  layers: ['land_cover_polygon'],
};
