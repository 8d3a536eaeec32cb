/** Opens the map of a test server in a real browser, and reads the drawn pixels. */
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { CHROMIUM } from '../harness/browser.ts';
import { BASE, type Service } from './harness.ts';

/**
 * Options of the browser. The map is drawn with WebGL, which SwiftShader emulates on the processor. The text and boxes of the page are drawn without WebGL,
 * which takes less CPU time.
 */
const FLAGS = [
  '--headless', '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync', '--disable-gpu-rasterization',
];
/** Longest wait for an element of a page, in milliseconds. The machine may be busy. */
const PATIENCE_MS = 120_000;
/** Draws the map without antialiasing. With antialiasing, the processor draws four samples of each pixel. */
const PLAIN_EDGES = `{
  const { getContext } = HTMLCanvasElement.prototype;
  HTMLCanvasElement.prototype.getContext = function (kind, attributes) {
    return getContext.call(this, kind, attributes?.antialias === true ? { ...attributes, antialias: false } : attributes);
  };
}`;
export const WIDE = { width: 1360, height: 860 };
/** Draws a sixteenth of the pixels, for tests that neither count pixels nor take screenshots. The layout is the same. */
export const COARSE = { deviceScaleFactor: 0.25 };
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };

export interface MapBrowser {
  readonly browser: Browser;
  readonly origin: string;
  readonly key: string;
  /** Errors and warnings that the opened pages logged on the console, and errors that their scripts threw. */
  readonly problems: string[];
  /** Origins of all requests of the opened pages. */
  readonly asked: Set<string>;
  /** Paths of the requests with a token, except tiles. These requests count against the token's hourly limit. */
  readonly paid: string[];
  /**
   * Opens the map in a separate browser context, signed in unless `signed` is false. Waits until the page has applied the URL's fragment, unless `isAwaited` is
   * false.
   */
  open(hash: string, options?: BrowserContextOptions & { signed?: boolean; isAwaited?: boolean }): Promise<Page>;
  close(): Promise<void>;
}

/** Opens a browser context in which maps are drawn without antialiasing. */
export async function newContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  await context.addInitScript(PLAIN_EDGES);
  return context;
}

/** Starts a browser, and makes the server listen on a port. */
export async function openMapBrowser(service: Service): Promise<MapBrowser> {
  const origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const key = await service.token();
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS });
  const [problems, asked, paid]: [string[], Set<string>, string[]] = [[], new Set(), []];
  return {
    browser, origin, key, problems, asked, paid, close: () => browser.close(),
    async open(hash, { signed = true, isAwaited = true, ...options } = {}) {
      const context = await newContext(browser, { locale: 'en-GB', ...options });
      const page = await context.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
      });
      page.on('pageerror', (error) => void problems.push(String(error)));
      page.on('request', (request) => {
        const { origin: from, pathname } = new URL(request.url());
        asked.add(from);
        if (request.headers()['x-api-key'] !== undefined && !pathname.includes('/tiles/')) paid.push(pathname.slice(BASE.length));
      });
      if (signed) await page.addInitScript(`if (sessionStorage.getItem('token') === null) sessionStorage.setItem('token', '${key}')`);
      await page.goto(`${origin}${BASE}/map${hash}`);
      if (isAwaited) await page.locator('body[data-ready]').waitFor();
      return page;
    },
  };
}

/** Counts the map's pixels in one of these colours, blended with the pale land colour of the page. */
export async function coloured(page: Page, colours: readonly string[], opacity = 0.75): Promise<number> {
  return page.evaluate(`(() => {
    const drawn = document.querySelector('#map canvas');
    const copy = Object.assign(document.createElement('canvas'), { width: drawn.width, height: drawn.height }).getContext('2d');
    copy.drawImage(drawn, 0, 0);
    const wanted = ${JSON.stringify(colours)}.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
    const land = [251, 250, 246];
    const { data } = copy.getImageData(0, 0, drawn.width, drawn.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (wanted.some((colour) => colour.every((part, channel) => Math.abs(part * ${opacity} + land[channel] * ${1 - opacity} - data[at + channel]) <= 4))) found += 1;
    }
    return found;
  })()`);
}

/** Counts the map's pixels by colour, written as `rgb(r, g, b)`. */
export async function pixels(page: Page): Promise<Map<string, number>> {
  return new Map(await page.evaluate<[string, number][]>(`(() => {
    const drawn = document.querySelector('#map canvas');
    const copy = Object.assign(document.createElement('canvas'), { width: drawn.width, height: drawn.height }).getContext('2d');
    copy.drawImage(drawn, 0, 0);
    const { data } = copy.getImageData(0, 0, drawn.width, drawn.height);
    const found = new Map();
    for (let at = 0; at < data.length; at += 4) {
      const colour = 'rgb(' + data[at] + ', ' + data[at + 1] + ', ' + data[at + 2] + ')';
      found.set(colour, (found.get(colour) ?? 0) + 1);
    }
    return [...found];
  })()`));
}

/** Returns the visible boxes on the map that overlap each other or extend beyond the window. */
export async function overlaps(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const names = ['body > header', '#layers', '#legend', '#loading', '#status', '#credits', '.maplibregl-ctrl-group', '.maplibregl-ctrl-scale', '#record'];
    const boxes = names.map((name) => [name, document.querySelector(name)]).filter(([, each]) => each !== null && each.checkVisibility() && !each.classList.contains('hidden'))
      .map(([name, each]) => [name, each.getBoundingClientRect()]).filter(([, { width, height }]) => width > 1 && height > 1);
    const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    return [
      ...boxes.flatMap(([name, box], index) => boxes.slice(0, index).filter(([, other]) => meets(box, other)).map(([other]) => other + ' ' + name)),
      ...boxes.filter(([, box]) => box.left < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1).map(([name]) => name + ' leaves the window'),
    ];
  })()`);
}
