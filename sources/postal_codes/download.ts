import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'there is no official open list. Save a table of comuni and CAP that you may use (CSV or JSON) with "cap" in its name. Without it, postal codes are null',
} satisfies Download;
