import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

export const manifest: Manifest = {
  id: 'postal_codes',
  version: 4,
  title: 'Postal codes (CAP) of comuni, and their areas, as the operator supplies them',
  italianTitle: 'CAP dei comuni e loro aree, forniti dal gestore',
  attribution: {
    holder: HOLDERS.operator,
    license: 'as agreed by the operator with the supplier',
    url: 'https://www.poste.it/cerca/index.html',
    text: 'Codici di avviamento postale: elaborazione del gestore; non è un elenco ufficiale di Poste Italiane.',
  },
  vintageRule: 'the last year in the file\'s name (`cap_2025.csv`), otherwise the year of the day in the name (`cap_20250301.csv`), otherwise undated. If two files have the same year, the file with the later day is newer. If several editions contain the comune or an area at the place, the newest edition is used',
  downloads: [
    {
      url: 'https://www.poste.it/cerca/index.html',
      note: 'There is no official open list and there are no official areas. Use any table of comuni and CAP (CSV or JSON). For comuni with several CAP, use any polygons with a CAP. This source is optional. Without this source, postal_code is null.',
    },
  ],
  cadence: 'when the operator has a newer file',
  crs: 'the CRS of the polygon layer, as stated in its .prj or header',
  keep: 'all',
  ignored: {
    'nome|nome_comune|comune|denominazione*|descrizione_comune': 'name of the comune; the code is read instead',
    'sigla*|prov|provincia*|codice_provincia|cod_provincia|cod_prov|tipologia_provincia': 'province; derived from the comune',
    'regione*|codice_regione|cod_regione|cod_reg|tipologia_regione|ripartizione_geografica|zona': 'region; derived from the comune',
    'codice|flag_capoluogo|prefisso|popolazione|superficie*|lat|lon|latitudine|longitudine|id|fid|objectid': 'data about the comune: not used',
  },
  optional: {
    '*': 'the table comes from the operator and may lack this column',
    'belfiore|codice_belfiore|cod_belfiore|catasto|codice_catasto|codice_catastale|cod_catastale|codicecatastale|codice_catastale_comune': 'one of the two codes of the comune is enough',
    'istat|istat_code|codice_istat|cod_istat|codiceistat|codice_istat_comune|codice_comune_istat|pro_com_t|pro_com|procom': 'one of the two codes of the comune is enough',
  },
  envelope: { rejectShare: 0.2 },
  layers: ['comune_postal_code', 'postal_code_area'],
};
