/** Prints an HTML page to PDF with a browser of the Chromium family. The user must install the browser. */
import { execFile, type ExecFileException } from 'node:child_process';
import { access, constants, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { MappaleError } from '../errors.ts';

/** Names or paths of browsers that can print without a window, in search order. */
const BROWSERS = [
  'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'microsoft-edge',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/** Time limit for printing in milliseconds. Printing a page takes about a second. */
const LONGEST_MS = 120_000;

/** Returns the path of an executable program, or null. Searches the folders in order if the name is not a path. */
async function programAt(name: string, folders: readonly string[]): Promise<string | null> {
  const paths = isAbsolute(name) || name.includes('/') ? [name] : folders.map((folder) => join(folder, name));
  for (const path of paths) if (await access(path, constants.X_OK).then(() => true, () => false)) return path;
  return null;
}

/**
 * Finds the browser that prints pages.
 * @param named name or path from the user; undefined for the first known browser @param folders the folders to search
 * @throws MappaleError `BROWSER_MISSING` (exit 2)
 */
export async function findBrowser(named: string | undefined, folders: readonly string[]): Promise<string> {
  for (const name of named === undefined ? BROWSERS : [named]) {
    const found = await programAt(name, folders);
    if (found !== null) return found;
  }
  throw new MappaleError('no browser is available to print the PDF', {
    code: 'BROWSER_MISSING', kind: 'usage', detail: named === undefined ? `expected one of these programs: ${BROWSERS.join(', ')}, found none` : `expected the program ${named}, found none`,
    hint: 'Install Chromium, or name a browser of the Chromium family with --browser. Or write HTML (--out FILE.html), open the HTML in any browser and print to PDF.',
    fix: 'apt-get install chromium',
  });
}

/**
 * Prints a page to a PDF file.
 * @param html a page without references to other files
 * @throws MappaleError `PDF_NOT_WRITTEN` (exit 2)
 */
export async function printPdf(browser: string, html: string, out: string): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'mappale-pdf-'));
  try {
    const page = join(folder, 'page.html');
    await writeFile(page, html);
    // Disables the sandbox for root, because Chromium cannot start a sandbox as root. Printing is safe without the sandbox, because the page has no scripts and
    // sends no requests.
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const failure = await promisify(execFile)(browser, [
      '--headless', '--disable-gpu', ...sandbox, '--no-first-run', '--disable-background-networking', '--no-pdf-header-footer', `--user-data-dir=${join(folder, 'profile')}`,
      `--print-to-pdf=${out}`, pathToFileURL(page).href,
    ], { timeout: LONGEST_MS }).then(() => null, (error: unknown) => error as ExecFileException);
    const isWritten = await stat(out).then(({ size }) => size > 0, () => false);
    if (failure !== null || !isWritten) throw notWritten(browser, failure);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function notWritten(browser: string, failure: ExecFileException | null): MappaleError {
  const end = failure === null ? 'exit code 0' : typeof failure.code === 'number' ? `exit code ${failure.code}` : failure.signal ?? failure.code ?? failure.message;
  return new MappaleError('the browser printed no PDF', {
    code: 'PDF_NOT_WRITTEN', kind: 'usage', at: browser, detail: `expected a PDF file, found none (${end})`, cause: failure,
    hint: 'Name another browser with --browser. Or write HTML (--out FILE.html), open the HTML in any browser and print to PDF.',
    fix: 'npx mappale dossier PARCEL --out dossier.html',
  });
}
