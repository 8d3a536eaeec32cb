/** Finds Chromium, and opens static pages at the sizes of a monitor, a phone and paper. */
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) => existsSync(path));

/** Folder of screenshots for manual inspection. The folder is not part of the project. */
export const PICTURES = fileURLToPath(new URL('../../.mappale/pictures/', import.meta.url));

/** Sizes in CSS pixels. Paper has the width between the margins of A4. */
const SIZES = { '1280x800': { width: 1280, height: 800 }, '390x844': { width: 390, height: 844 }, paper: { width: 700, height: 990 } } as const;

interface Looked {
  readonly size: keyof typeof SIZES;
  /** Whether the page is wider than the screen. */
  readonly isWide: boolean;
  /** For each selector, the distance in CSS pixels of the first match's upper edge from the top of the page. NaN if the match is not visible. */
  readonly tops: readonly number[];
  /** The same distances of the lower edges. */
  readonly bottoms: readonly number[];
}

/** Opens a page at each size, takes a dark and a light screenshot, and measures the page. @param name first part of the file names of the screenshots */
export async function lookAt(html: string, name: string, selectors: readonly string[]): Promise<Looked[]> {
  await mkdir(PICTURES, { recursive: true });
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: ['--headless', '--no-sandbox'] });
  try {
    const page = await browser.newPage();
    await page.setContent(html);
    const looked: Looked[] = [];
    for (const size of Object.keys(SIZES) as (keyof typeof SIZES)[]) {
      await page.setViewportSize(SIZES[size]);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ media: size === 'paper' ? 'print' : 'screen', colorScheme });
        await page.screenshot({ path: `${PICTURES}${name}-${size}-${colorScheme}.png` });
      }
      const boxes = await Promise.all(selectors.map((selector) => page.locator(selector).first().boundingBox()));
      looked.push({
        size, isWide: await page.evaluate<number>('document.documentElement.scrollWidth') > SIZES[size].width,
        tops: boxes.map((box) => box?.y ?? NaN), bottoms: boxes.map((box) => (box?.y ?? NaN) + (box?.height ?? NaN)),
      });
    }
    return looked;
  } finally {
    await browser.close();
  }
}
