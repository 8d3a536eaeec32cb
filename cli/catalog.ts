/** `mappale catalog`: describes the exports in a folder for open data catalogues. */
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Command } from 'commander';
import { expandPath, readConfig } from '../pipelines/config.ts';
import { loadSources } from '../pipelines/contract/registry.ts';
import { exportsIn } from '../pipelines/deliver/catalog/exports.ts';
import { catalogDocuments, highValueSources } from '../pipelines/deliver/catalog/index.ts';
import { CLOCK } from '../pipelines/clock.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { writeAtomically } from '../pipelines/formats/atomic-write.ts';
import { quoted, retyped, withOption } from '../pipelines/typed.ts';
import { command, print } from './command.ts';

interface Options {
  readonly out: string;
  readonly exports: string;
  readonly url?: string;
  readonly json?: boolean;
}

export function catalogCommand(): Command {
  return command('catalog', ['mappale catalog --out catalog', 'mappale catalog --exports /srv/exports --out /srv/exports/catalog --url https://data.example.org/exports/'])
    .requiredOption('--out <folder>', 'folder of the catalogue: dcat.ttl, dcat.jsonld and stac/catalog.json')
    .option('--exports <folder>', 'folder with exports and their STAC items', '.')
    .option('--url <address>', 'URL at which the folder with the exports is published; default: the file URL of the folder')
    .option('--json', 'print the summary as JSON')
    .action(async (options: Options) => {
      const written = await writeCatalog(options);
      print(options.json, written, () => describe(written));
    });
}

interface Written {
  readonly out: string;
  readonly documents: number;
  readonly exports: readonly string[];
  readonly skipped: readonly string[];
}

/** @throws MappaleError `FOLDER_MISSING`, `URL_INVALID`, `DISK_FULL` (exit 2) */
async function writeCatalog(options: Options): Promise<Written> {
  const [folder, out] = [resolve(expandPath(options.exports)), resolve(expandPath(options.out))];
  await mustBeFolder(folder);
  const { exports, skipped } = await exportsIn(folder);
  const files = options.url === undefined ? `${pathToFileURL(folder).href}/` : parseFolderUrl(options.url, '--url');
  const documents = catalogDocuments({
    base: `${files}catalog`, files, api: null, publisher: readConfig().publisher, exports, highValue: highValueSources(await loadSources()),
    today: new Date(CLOCK.now()).toISOString(),
  });
  for (const [path, { text }] of documents) {
    const file = join(out, path);
    await mkdir(dirname(file), { recursive: true });
    await writeAtomically(file, (unfinished) => writeFile(unfinished, text));
  }
  return { out, documents: documents.size, exports: exports.map(({ name }) => name), skipped };
}

/** @throws MappaleError `FOLDER_MISSING` (exit 2) */
export async function mustBeFolder(folder: string): Promise<void> {
  if (await stat(folder).then((found) => found.isDirectory(), () => false)) return;
  throw new MappaleError('the folder with exports does not exist', {
    code: 'FOLDER_MISSING', kind: 'usage', at: folder, hint: 'Write an export first, or name another folder.', fix: `npx mappale export REGION --out ${quoted(join(folder, 'region.parquet'))}`,
  });
}

/** @returns the URL with a trailing slash @throws MappaleError `URL_INVALID` (exit 2) */
export function parseFolderUrl(text: string, option: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '' && url.username === '') return url.href.replace(/\/?$/, '/');
  throw new MappaleError(`${option} is not an http or https URL`, {
    code: 'URL_INVALID', kind: 'usage', detail: `expected an http or https URL without a query, found ${text}`, hint: 'Give the URL at which the folder with the exports is published.',
    fix: retyped(withOption(option, 'https://data.example.org/exports/'), `npx mappale catalog --out catalog ${option} https://data.example.org/exports/`),
  });
}

function describe({ out, documents, exports, skipped }: Written): string {
  return [
    `${out}: ${documents} documents on ${exports.length} exports: dcat.ttl, dcat.jsonld, stac/catalog.json`,
    ...skipped.map((name) => `  not described: ${name}, because mappale did not write this STAC item, or the exported file is missing or has a different size`),
  ].join('\n');
}
