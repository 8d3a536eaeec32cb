import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'istat_boundaries',
  version: 4,
  title: 'ISTAT: boundaries of comuni, provinces and regions',
  italianTitle: 'ISTAT: confini di comuni, province e regioni',
  attribution: {
    holder: HOLDERS.istat,
    license: 'CC-BY-4.0',
    url: 'https://www.istat.it/notizia/confini-delle-unita-amministrative-a-fini-statistici-al-1-gennaio/',
    text: 'Fonte: Istat, Confini delle unità amministrative a fini statistici',
  },
  vintageRule: 'the day or year in the name of the shapefile (`Com01012025_g_WGS84` → `2025-01-01`, `Com2021` → `2021`), otherwise in the name of the file; undated if neither name has a date',
  downloads: [
    {
      url: 'https://www.istat.it/storage/cartografia/confini_amministrativi/generalizzati/2026/Limiti01012026_g.zip',
      note: 'generalised boundaries of all levels; use /non_generalizzati/ for the detailed boundaries, and a different year for a different edition',
    },
    { url: 'https://github.com/openpolis/geojson-italy', note: 'the boundaries of 2023 as GeoJSON in WGS 84 with cadastral codes, one file per province' },
  ],
  cadence: 'yearly',
  crs: 'WGS 84 / UTM zone 32N (EPSG:32632) for the whole country, as the .prj states; GeoJSON: WGS 84 longitude, latitude',
  keep: 'newest',
  reference: true,
  ignored: {
    'RipGeo*.shp': 'groups of regions: not served',
    COD_RIP: 'derived from the region',
    COD_REG: 'in the layers of comuni and provinces; derived from the code',
    COD_PROV: 'in the layer of comuni; derived from the code',
    COD_PRO: 'in the layer of comuni; derived from the code',
    COD_CM: 'repeats the code of the province, or is 0',
    COD_UTS: 'in the layer of comuni; read from the list of comuni instead',
    COMUNE_A: 'second name; read from the list of comuni instead',
    CC_UTS: 'seat of the province; read from the list of comuni instead',
    CC_P: 'seat of the province; read from the list of comuni instead',
    SIGLA: 'read from the list of comuni instead',
    TIPO_UTS: 'read from the list of comuni instead',
    'POP*': 'population of a census; read from the census sections instead',
    'FAM*': 'households of a census; read from the census sections instead',
    'SHAPE_*': 'length and area in UTM zone 32, which are wrong in the east; measured in EPSG:3035 instead',
    AREA_NEW: 'area in hectares; measured in EPSG:3035 instead',
    'op_id, opdm_id, minint_*': 'GeoJSON: identifiers of other registers',
    'prov_*, reg_*': 'GeoJSON: read from the list of comuni instead',
    com_istat_code_num: 'GeoJSON: the code without leading zeros',
  },
  highValue: { category: 'geospatial', entry: '1, geospatial: administrative units' },
  envelope: {
    records: { limiti: { min: 7_800, max: 9_000 }, comune: { min: 7_800, max: 8_300 } },
    rejectShare: 0,
  },
  layers: ['boundary'],
};
