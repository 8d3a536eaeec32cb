import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'urban_atlas',
  version: 2,
  title: 'Urban Atlas Land Cover/Land Use 2018',
  italianTitle: 'Urban Atlas, copertura e uso del suolo 2018',
  attribution: {
    holder: HOLDERS.copernicus,
    license: 'Copernicus full, free and open',
    url: 'https://doi.org/10.2909/fb4dffa1-6ceb-4cc0-8372-1ed354c285e6',
    text:
      "Generated using European Union's Copernicus Land Monitoring Service information; https://doi.org/10.2909/fb4dffa1-6ceb-4cc0-8372-1ed354c285e6. "
      + 'Cut to cadastral parcels. This product is not endorsed by the European Union.',
  },
  vintageRule: 'the year after UA in the name (IT025L3_NAPOLI_UA2018_v013 is 2018). v013 is the issue. Only 2018 is read',
  downloads: [
    {
      url: 'https://land.copernicus.eu/en/products/urban-atlas/urban-atlas-2018',
      note: 'Download with an EU Login: vector, one zip per functional urban area (IT025L3_NAPOLI_UA2018_v013.zip). Unpack a zip that contains several of these zips',
    },
  ],
  cadence: 'every six years',
  crs: 'the CRS that the file states; EPSG:3035 (ETRS89-LAEA) as published',
  keep: 'newest',
  ignored: {
    country: 'country; also the first letters of the code of the urban area',
    fua_name: 'name of the urban area; the code is kept instead',
    prod_date: 'date of production',
    identifier: 'number of the polygon; the position identifies the polygon instead',
    perimeter: 'perimeter in the file\'s CRS: not served',
    area: 'area in the file\'s CRS; measured in EPSG:3035 instead',
    comment: 'notes of the interpreters',
    'pop2018*': 'modelled residents; the census is served instead',
    'objectid*': 'row number added by the program that wrote the file',
    fid: 'see objectid',
    'shape_*': 'length and area in the file\'s CRS; the area is measured in EPSG:3035 instead',
    '*_UrbanCore': 'layer of the city inside the urban area; not served',
  },
  optional: {
    'pop2018*': 'some cities have no modelled residents', 'objectid*': 'added by exports from a database', fid: 'added by exports from a database', 'shape_*': 'only exports from a database have these columns',
    '*_UrbanCore': 'this is the name of a layer, not of a column',
  },
  envelope: { records: { urban_area: { min: 1_000, max: 200_000 } }, rejectShare: 0.01 },
  layers: ['land_use_polygon', 'urban_boundary'],
};
