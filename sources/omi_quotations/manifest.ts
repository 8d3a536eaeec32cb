import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'omi_quotations',
  version: 6,
  title: 'OMI: quotations, zones and their perimeters',
  italianTitle: 'OMI: quotazioni, zone e loro perimetri',
  attribution: {
    holder: HOLDERS.agenziaDelleEntrate,
    license: 'free use with citation of the source',
    url: 'https://www.agenziaentrate.gov.it/portale/schede/fabbricatiterreni/omi/forniture-dati-omi',
    text: 'Agenzia Entrate - OMI',
    mandatory: true,
  },
  vintageRule:
    'the half-year in the title line (`Semestre 2025/1`) or in the perimeters\' document name (`Anno/Semestre 2025/1`), written `2025_1`. The name of the outer zip is never used',
  downloads: [
    {
      url: 'https://telematici.agenziaentrate.gov.it',
      note: 'Forniture OMI – Quotazioni Immobiliari (registered users): VALORI and ZONE, with or without perimeters, by comune, provincia, regione or for Italy. Choose one zip per half-year',
    },
    {
      url: 'https://www1.agenziaentrate.gov.it/servizi/geopoi_omi/index.htm',
      note: 'GEOPOI: perimeters by provincia or comune (KMZ), without registration',
    },
  ],
  cadence: 'half-yearly',
  crs: 'WGS 84 longitude, latitude (KML)',
  keep: 'all',
  ignored: {
    Area_territoriale: 'macro-area of the region; derived from Regione',
    Prov: 'one of the 103 provinces before 2005; also the first letters of LinkZona',
    Comune_ISTAT: 'malformed, and outdated for hundreds of comuni; Comune_amm (cadastral code) identifies the comune',
    Comune_cat: 'internal office code',
    Sez: 'always a single blank',
    LINKZONA: 'perimeters: empty since 2014; CODCOM and CODZONA identify the zone instead',
  },
  optional: { LINKZONA: 'perimeters before 2014/2: only in some files, and without other data' },
  envelope: { rejectShare: 0.01 },
  layers: ['omi_quotation', 'omi_zone', 'omi_perimeter'],
};
