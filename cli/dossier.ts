/** Writes one page on a parcel. */
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Option, type Command } from 'commander';
import { dossierPage } from '../api/report/dossier.ts';
import { LANGUAGES, panelsIn, type Language } from '../api/report/record-values.ts';
import { expandPath } from '../pipelines/config.ts';
import { one } from '../pipelines/db/index.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { mustBePlace, writeAtomically } from '../pipelines/formats/atomic-write.ts';
import { readDossier } from '../pipelines/operate/dossier.ts';
import { withOption, retyped } from '../pipelines/typed.ts';
import { command, look } from './command.ts';
import { findParcel, goneParcel } from './parcel-id.ts';

interface Options {
  readonly out?: string;
  readonly language: Language;
  readonly json?: boolean;
}

export function dossierCommand(): Command {
  return command('dossier', ['mappale dossier H833_001300.594', 'mappale dossier H833_001300.594 --language it --out particella.html'])
    .argument('<id>', 'fid or national cadastral reference')
    .option('--out <file>', 'output file (.html); default: dossier-FID.html in the working folder')
    .addOption(new Option('--language <language>', 'language of the page').choices(LANGUAGES).default('en'))
    .option('--json', 'print the content as JSON; write a page only with --out')
    .action(async (id: string, options: Options) => {
      if (options.out !== undefined) await mustBePage(options.out);
      return look(options, async (context) => {
        const fid = await findParcel(context, id);
        const dossier = await readDossier(context.database, fid);
        if (dossier === null) throw await goneParcel((statement, parameters) => one(context.database, statement, parameters), id, fid);
        const out = options.json === true && options.out === undefined ? null : expandPath(options.out ?? `dossier-${fid}.html`);
        if (out !== null) {
          await mustBePlace(out);
          const page = dossierPage(dossier, await panelsIn(options.language), options.language);
          await writeAtomically(out, (unfinished) => writeFile(unfinished, page));
        }
        return [dossier, () => `written: ${out ?? ''}`];
      });
    });
}

/** Checks the output file before the work. @throws MappaleError `DOSSIER_FORMAT` (exit 2) */
async function mustBePage(out: string): Promise<void> {
  const ending = extname(out).toLowerCase();
  if (ending !== '.html' && ending !== '.htm') {
    const isPdf = ending === '.pdf';
    throw new MappaleError(isPdf ? 'dossier does not write PDF' : 'dossier writes HTML only', {
      code: 'DOSSIER_FORMAT', kind: 'usage', detail: `expected a file that ends in .html, found ${out}`,
      hint: isPdf ? 'No library that lays out PDF pages is included. Write HTML, open it in a browser and print it to PDF. The page has a style for paper.' : 'Name the file .html.',
      fix: retyped(withOption('--out', `${out.slice(0, out.length - ending.length)}.html`), 'npx mappale dossier PARCEL --out dossier.html'),
    });
  }
  await mustBePlace(expandPath(out));
}
