import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['10-15'],
  byHand: () => 'open https://dati.istruzione.it/opendata/opendata/catalogo/elements1/?area=Scuole, choose the newest school year, and save the CSV of SCUANAGRAFESTAT and SCUANAGRAFEPAR '
    + '(for Aosta, Trento and Bolzano: SCUANAAUTSTAT and SCUANAAUTPAR). Do not rename the files',
} satisfies Download;
