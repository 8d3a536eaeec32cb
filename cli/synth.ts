import { mkdir } from 'node:fs/promises';
import { Option, type Command } from 'commander';
import { expandPath } from '../pipelines/config.ts';
import { chooseSources, loadSources } from '../pipelines/contract/registry.ts';
import { collectPaths, command, parseCount, print } from './command.ts';

interface Options {
  readonly out: string;
  readonly parcels: number;
  readonly seed: number;
  readonly comuni?: number;
  readonly region?: number;
  readonly dense: boolean;
  readonly form: typeof FORMS[number];
  readonly source?: readonly string[];
  readonly json?: boolean;
}

/** Forms of the parcels of a synthetic region. */
const FORMS = ['lattice', 'place'] as const;

export function synthCommand(): Command {
  return command('synth', [
    'mappale synth --out /tmp/synthetic --parcels 20000 --seed 7',
    'mappale synth --out /tmp/synthetic-large --parcels 1000000',
  ])
    .requiredOption('--out <folder>', 'output folder; created if missing')
    .option('--parcels <n>', 'number of parcels', parseCount, 2000)
    .option('--seed <n>', 'seed; the same seed gives the same bytes', parseCount, 1)
    .option('--comuni <n>', 'number of comuni; default: enough for comuni of realistic size', parseCount)
    .option('--region <code>', 'region to imitate: 14 (Molise) or 4 (Trentino-Alto Adige, with land registers)', parseCount, 14)
    .option('--dense', 'make floods, buildings, land cover and addresses about five times as dense as in Italy, so that even a small region has all of them', false)
    .addOption(new Option('--form <form>', 'lattice: nearly equal parcels; place: towns with streets and fields, for region 14 only').choices(FORMS).default(FORMS[0]))
    .option('--source <source>', 'write the files of this source only; repeatable', collectPaths)
    .option('--json', 'print the summary as JSON')
    .action(async ({ out: folder, source: only, json, ...options }: Options) => {
      const { writeSynthetic } = await import('../pipelines/synthetic/synthetic.ts');
      const out = expandPath(folder);
      const sources = chooseSources(await loadSources(), only ?? null);
      await mkdir(out, { recursive: true });
      const region = await writeSynthetic(sources, out, options);
      print(json, { folder: out, parcels: region.parcelCount, comuni: region.comuni.length, sources: sources.map(({ id }) => id) },
        () => `${region.parcelCount} parcels in ${region.comuni.length} comuni, files of ${sources.length} sources in ${out}`);
    });
}
