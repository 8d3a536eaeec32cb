import { HOLDERS } from '../../pipelines/contract/holders.ts';
import type { Manifest } from '../../pipelines/contract/source.ts';

const NOT_SERVED = 'a type of income or tax: not served';

export const manifest: Manifest = {
  id: 'mef_income',
  version: 2,
  title: 'MEF: personal income tax returns (IRPEF) by comune and, in the largest cities, by postal code',
  italianTitle: 'MEF: dichiarazioni dei redditi (IRPEF) per comune e, nelle città maggiori, per CAP',
  attribution: {
    holder: HOLDERS.mef,
    license: 'CC-BY-3.0-IT',
    url: 'https://www1.finanze.gov.it/finanze/analisi_stat/public/index.php?opendata=yes',
    text: 'Fonte: Ministero dell\'Economia e delle Finanze - Dipartimento delle Finanze, open data dichiarazioni fiscali, licenza CC BY 3.0 IT',
    mandatory: true,
  },
  vintageRule: 'the tax year of the first record (`Anno di imposta`); tax returns are filed in the following year',
  downloads: [
    {
      url: 'https://www1.finanze.gov.it/finanze/analisi_stat/public/v_4_0_0/contenuti/Redditi_e_principali_variabili_IRPEF_su_base_comunale_CSV_2023.zip',
      note: 'Table by comune. The year in the name is the tax year.',
    },
    {
      url: 'https://www1.finanze.gov.it/finanze/analisi_stat/public/v_4_0_0/contenuti/Redditi_e_principali_variabili_IRPEF_su_base_subcomunale_CSV_2023.zip',
      note: 'Table by postal code, for comuni with several postal codes.',
    },
  ],
  cadence: 'yearly, in April',
  crs: null,
  // The section `economics` uses the newest year of each comune and level, so neighbouring comuni may have different years.
  keep: 'all',
  ignored: {
    '': 'trailing cells without a name, whose number changes every year',
    denominazione_comune: 'name of the comune; the cadastral code identifies the comune',
    sigla_provincia: 'derived from the comune',
    regione: 'derived from Codice Istat Regione',
    'reddito_da_fabbricati_*': NOT_SERVED,
    'reddito_da_lavoro_*': NOT_SERVED,
    'reddito_da_pensione_*': NOT_SERVED,
    'reddito_di_spettanza_*': NOT_SERVED,
    'reddito_da_partecipazione_*': NOT_SERVED,
    'reddito_imponibile_*': 'taxable income, not the income earned; the averages and the Gini index use Reddito complessivo',
    'bonus_spettante_*': `${NOT_SERVED} (until 2020)`,
    'trattamento_spettante_*': `${NOT_SERVED} (since 2021)`,
    'addizionale_*': NOT_SERVED,
  },
  envelope: { records: { comunale: { min: 7_500, max: 8_500 }, subcomunale: { min: 400, max: 1_000 } }, rejectShare: 0.001 },
  layers: ['income'],
};
