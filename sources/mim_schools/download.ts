import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['10-15'],
  byHand: () => 'open https://dati.istruzione.it/opendata/opendata/catalogo/elements1/?area=Scuole, the newest school year; save the CSV of SCUANAGRAFESTAT and SCUANAGRAFEPAR, '
    + 'for Aosta, Trento and Bolzano those of SCUANAAUTSTAT and SCUANAAUTPAR, under their own names',
} satisfies Download;
