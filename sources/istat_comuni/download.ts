import { fixed, type Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31', '03-15', '07-15', '10-15'],
  // Estimate: the same table is 1.1 MB as CSV.
  largest: 2_000_000,
  // The workbook is used instead of the CSV of the same name, because only the sheet of the workbook states the date.
  files: () => [fixed('https://www.istat.it/storage/codici-unita-amministrative/', 'Elenco-comuni-italiani.xlsx')],
} satisfies Download;
