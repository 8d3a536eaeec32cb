import { readFileSync } from 'node:fs';
import type { Download } from '../../pipelines/contract/download.ts';

const QUERY = readFileSync(new URL('query.sparql', import.meta.url), 'utf8').replace(/^#.*\n/gm, '');

export default {
  cycle: ['01-31', '07-31'],
  // Estimated size of all pages: 58,941 places of 600 bytes each.
  largest: 36_000_000,
  // The request has no `Accept` header, because the endpoint returns status 406 for some requests that have this header. The URL states the format.
  files: (_region, today) => [{
    base: 'https://dati.cultura.gov.it/sparql?',
    editions: [{ path: '', name: `luoghi_della_cultura_${today.toISOString().slice(0, 10).replaceAll('-', '')}.csv` }],
    pages: { key: 'id', most: 100, path: (offset) => `query=${encodeURIComponent(QUERY.replace(/^offset \d+/m, `offset ${offset}`))}&format=${encodeURIComponent('text/csv')}` },
  }],
} satisfies Download;
