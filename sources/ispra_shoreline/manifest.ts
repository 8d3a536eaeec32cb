import { ROW_NUMBERS } from '../../pipelines/contract/exported-columns.ts';
import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'ispra_shoreline',
  version: 4,
  title: 'Linea di Costa 2020 v2.0 — Dinamica Litoranea 2006–2020',
  italianTitle: 'Linea di Costa 2020 v2.0 — Dinamica Litoranea 2006–2020',
  attribution: {
    holder: HOLDERS.ispra,
    license: 'CC-BY-4.0',
    url: 'https://sinacloud.isprambiente.it/portal/apps/sites/#/coste/pages/dati',
    text: 'ISPRA, Linea di Costa 2020 v2.0 — Dinamica Litoranea 2006–2020. CC BY 4.0.',
  },
  vintageRule: 'the last year in the name of the file or layer: Dinamica_Litoranea_2006_2020 is 2020',
  downloads: [
    {
      url: 'https://sinacloud.isprambiente.it/portal/apps/sites/#/coste/pages/dati',
      note: 'layer Dinamica_Litoranea_2006_2020 of Assetto_costiero_anno_2020, as shapefile, GeoPackage or GeoJSON',
    },
  ],
  cadence: 'irregular; editions 2000, 2006, 2020',
  crs: 'the CRS that the file states',
  keep: 'newest',
  ignored: {
    ...ROW_NUMBERS.ignored,
    globalid: 'see objectid',
    shape_leng: 'length in the file\'s CRS: not served',
    shape_length: 'see shape_leng',
    shape_le_1: 'see shape_leng',
    shape_area: 'the area of a line, which has no meaning',
    lunghezza: 'see shape_leng',
    lunghezza_m: 'see shape_leng',
    regione: 'region of the segment; derived from the geometry',
    provincia: 'see regione',
    comune: 'see regione',
    cod_reg: 'see regione',
    cod_prov: 'see regione',
    cod_com: 'see regione',
    pro_com: 'see regione',
    tipo_costa: 'type of coast (sand, rock, works): not served',
    coast_type: 'see tipo_costa',
    lithology: 'see tipo_costa',
    fonte: 'image from which the line was drawn: not served',
    note: 'remarks',
  },
  optional: {
    '*': 'the publisher documents no columns, so the columns of an edition are unknown',
    'avg_change_m_year|avg_change|variazione_media_m_anno|var_media_m_anno|var_m_anno|tasso_m_anno|m_anno': 'an edition has only one of these: the mean per year, the change between two surveys, or the class alone',
    'variazione_m|var_m|variazione|spostamento_m|spostament': 'see avg_change_m_year',
  },
  envelope: { rejectShare: 0.01 },
  layers: ['shoreline_segment'],
};
