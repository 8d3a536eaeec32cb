/**
 * Writes the stations of the synthetic region: one station for each comune. In addition, the first station is repeated, and the last record has an invalid
 * code.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Synthetic } from '../../pipelines/synthetic/synthetic.ts';
import type { SyntheticRegion } from '../../pipelines/synthetic/region.ts';

async function write(region: SyntheticRegion, folder: string): Promise<void> {
  const lines = region.comuni.map(({ name }, index) => `S${String(index).padStart(5, '0')};Stazione di ${name};${(41.5 + index / 100).toFixed(5)};${(14.5 + index / 100).toFixed(5)};RFI`);
  await writeFile(join(folder, 'stazioni_2026.csv'), ['codice;nome;lat;lon;gestore', ...lines, lines[0]!, 'X;Senza codice;41.50000;14.50000;RFI'].map((line) => `${line}\n`).join(''));
}

export default { write } satisfies Synthetic;
