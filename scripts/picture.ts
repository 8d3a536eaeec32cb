/**
 * Takes the picture of the map for the README. Loads the demo region into a temporary folder, starts the API server and opens a parcel in Chromium.
 *
 *   npm run picture      writes docs/map.jpg
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const PROGRAM = fileURLToPath(new URL('../pipelines/mappale.mjs', import.meta.url));
const PICTURE = fileURLToPath(new URL('../docs/map.jpg', import.meta.url));
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));
/** Options with which Chromium draws WebGL on the CPU, for machines without a graphics card. */
const FLAGS = ['--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'];
const PARCEL = 'Z001_000200.48';
const LAYER = 'land_cover';
const SIZE = { width: 1280, height: 720 };

async function takePicture(link: string, { fid, lat, lng }: { fid: number; lat: number; lng: number }): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  try {
    const page = await browser.newPage({ viewport: SIZE, locale: 'en-GB', colorScheme: 'light' });
    await page.goto(link);
    await page.locator('body[data-ready]').waitFor();
    await page.evaluate(`location.hash = '#map=15.6/${lat}/${lng}&layer=${LAYER}&parcel=${fid}'`);
    await page.locator('#content h2').first().waitFor();
    await page.waitForTimeout(5_000);
    await page.evaluate("[...document.querySelectorAll('#content h3')].find((each) => each.textContent.startsWith('Risk'))?.scrollIntoView()");
    await page.screenshot({ path: PICTURE, type: 'jpeg', quality: 65 });
  } finally {
    await browser.close();
  }
}

if (CHROMIUM === undefined) throw new Error('Chromium is not installed. Run apt-get install chromium.');
const folder = await mkdtemp(join(tmpdir(), 'mappale-picture-'));
/** Returns the arguments with which Node runs the program on the embedded database in the temporary folder. */
const program = (...words: readonly string[]): readonly string[] => [PROGRAM, '--home', folder, ...words];
try {
  await promisify(execFile)(process.execPath, program('load-region'));
  const { stdout } = await promisify(execFile)(process.execPath, program('parcel', PARCEL, '--include', 'basic'));
  const { fid, basic } = JSON.parse(stdout) as { fid: number; basic: { centroid: { lat: number; lng: number } } };
  const server = spawn(process.execPath, program('serve', '--port', '0'), { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]();
  await lines.next();
  await takePicture((await lines.next()).value as string, { fid, ...basic.centroid });
  server.kill('SIGINT');
  await once(server, 'exit');
} finally {
  await rm(folder, { recursive: true });
}
