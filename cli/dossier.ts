/** Command that writes a page on a parcel, as HTML or PDF. */
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { Option, type Command } from 'commander';
import { dossierPage } from '../api/report/dossier.ts';
import { LANGUAGES, panelsIn, type Language } from '../api/report/record-values.ts';
import { expandPath, programFolders } from '../pipelines/config.ts';
import { one } from '../pipelines/db/index.ts';
import { MappaleError } from '../pipelines/errors.ts';
import { mustBePlace, writeAtomically } from '../pipelines/formats/atomic-write.ts';
import { findBrowser, printPdf } from '../pipelines/formats/pdf.ts';
import { readDossier } from '../pipelines/operate/dossier.ts';
import { withOption, retyped } from '../pipelines/typed.ts';
import { command, look } from './command.ts';
import { findParcel, goneParcel } from './parcel-id.ts';

interface Options {
  readonly out?: string;
  readonly browser?: string;
  readonly language: Language;
  readonly json?: boolean;
}

export function dossierCommand(): Command {
  return command('dossier', ['mappale dossier H833_001300.594', 'mappale dossier H833_001300.594 --language it --out particella.pdf'])
    .argument('<id>', 'fid or national cadastral reference')
    .option('--out <file>', 'output file (.html or .pdf); default: dossier-FID.html in the working folder')
    .option('--browser <program>', 'browser of the Chromium family that prints the PDF; default: the first such browser that is installed')
    .addOption(new Option('--language <language>', 'language of the page').choices(LANGUAGES).default('en'))
    .option('--json', 'print the content as JSON; with --out, also write the page')
    .action(async (id: string, options: Options) => {
      const browser = options.out === undefined ? null : await browserFor(options.out, options.browser);
      return look(options, async (context) => {
        const fid = await findParcel(context, id);
        const dossier = await readDossier(context.database, fid);
        if (dossier === null) throw await goneParcel((statement, parameters) => one(context.database, statement, parameters), id, fid);
        const out = options.json === true && options.out === undefined ? null : expandPath(options.out ?? `dossier-${fid}.html`);
        if (out !== null) {
          await mustBePlace(out);
          const page = dossierPage(dossier, panelsIn(options.language), options.language);
          await writeAtomically(out, (unfinished) => (browser === null ? writeFile(unfinished, page) : printPdf(browser, page, unfinished)), extname(out));
        }
        return [dossier, () => `written: ${out ?? ''}`];
      });
    });
}

/**
 * Checks the output file before the page is built.
 * @returns the browser that prints the PDF; null for HTML
 * @throws MappaleError `DOSSIER_FORMAT`, `BROWSER_MISSING` (exit 2)
 */
async function browserFor(out: string, named: string | undefined): Promise<string | null> {
  const ending = extname(out).toLowerCase();
  if (!['.html', '.htm', '.pdf'].includes(ending)) {
    throw new MappaleError('dossier can write only HTML or PDF', {
      code: 'DOSSIER_FORMAT', kind: 'usage', detail: `expected a file that ends in .html or .pdf, found ${out}`, hint: 'Give the output file the extension .html or .pdf.',
      fix: retyped(withOption('--out', `${out.slice(0, out.length - ending.length)}.html`), 'npx mappale dossier PARCEL --out dossier.html'),
    });
  }
  await mustBePlace(expandPath(out));
  return ending === '.pdf' ? findBrowser(named, programFolders()) : null;
}
