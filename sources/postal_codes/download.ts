import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'save a table of comuni and CAP that you may use (CSV or JSON), with "cap" in its name, because there is no official open list. Without the table, postal codes are null',
} satisfies Download;
