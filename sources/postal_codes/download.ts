import type { Download } from '../../pipelines/contract/download.ts';

export default {
  cycle: ['01-31'],
  byHand: () => 'there is no official open list: save a table of comuni and CAP that you may use (CSV or JSON) under a name with "cap" in it. Without one postal codes are null',
} satisfies Download;
