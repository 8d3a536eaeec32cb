/** Tests the web pages in a real browser: opening, searching, clicking, reading, printing. */
import { mkdir } from 'node:fs/promises';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { inflateSync } from 'node:zlib';
import type { Browser, BrowserContextOptions, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { panels } from '../../api/pages.ts';
import { buildServer } from '../../api/server.ts';
import { STATUS, type ErrorCode } from '../../api/errors.ts';
import { SignInLink } from '../../api/sign-in.ts';
import type { Explain } from '../../api/explain.ts';
import { loadSources } from '../../pipelines/contract/registry.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { readPassport } from '../../cli/quality-report.ts';
import { comunePage, regionPage } from '../../api/report/pages.ts';
import { readConfig } from '../../pipelines/config.ts';
import { explain as explainParcel, type Explanation } from '../../pipelines/operate/explain.ts';
import { readOutlines, readRegionReport } from '../../pipelines/operate/region-report.ts';
import { contextOf } from '../../pipelines/run/context.ts';
import { SILENT } from '../../pipelines/log.ts';
import { CHROMIUM, PICTURES } from '../harness/browser.ts';
import { describeEngines } from '../harness/database.ts';
import { PROGRAM } from '../harness/program.ts';
import { BASE, regionService, VERSION } from './harness.ts';
import { COARSE, coloured, newContext, openMapBrowser, PHONE, type MapBrowser } from './map-browser.ts';
import { auditOf, countsOf, writeMarkup } from '../harness/markup.ts';

/** Sections that have values for every land parcel. */
const EVERYWHERE = ['terrain', 'land_cover', 'nightlights'];
/** Turns off the content security policy, so that code in markup would run. */
const NO_POLICY: BrowserContextOptions = { bypassCSP: true };

/** Returns the origins from which the content security policy of a page allows scripts. */
function scriptsOf(page: Response): string[] | undefined {
  return /script-src ([^;]*)/.exec(page.headers()['content-security-policy'] ?? '')?.[1]?.split(' ');
}

/** Returns the mean lightness (0–255) of each picture in a PDF. */
function picturesOf(pdf: Buffer): number[] {
  const found = pdf.toString('latin1').matchAll(/<<((?:(?!stream)[\s\S])*?\/Subtype \/Image[\s\S]*?)>>\s*stream\r?\n/g);
  return [...found].flatMap(({ 0: all, 1: head, index }) => {
    const start = index + all.length;
    const [width, height, length] = ['Width', 'Height', 'Length'].map((word) => Number(new RegExp(`/${word} (\\d+)`).exec(head!)?.[1])) as [number, number, number];
    const pixels = inflateSync(pdf.subarray(start, start + length));
    // Image streams of a different length are masks.
    return pixels.length === 3 * width * height ? [pixels.reduce((sum, part) => sum + part, 0) / pixels.length] : [];
  });
}

describeEngines('the web pages', (engine) => {
  describe.skipIf(CHROMIUM === undefined)(CHROMIUM === undefined ? 'in a browser [not run, no Chromium: apt-get install chromium]' : 'in a browser', () => {
    let service: Awaited<ReturnType<typeof regionService>>;
    let map: MapBrowser;
    let browser: Browser;
    let origin: string;
    let key: string;
    let open: MapBrowser['open'];
    /** A parcel that contains an address, with the parcel's representative point and the text of the address. */
    let known: { fid: number; label: string; lat: number; lng: number; text: string; belfiore: string };

    beforeAll(async () => {
      service = await regionService(engine);
      map = await openMapBrowser(service);
      ({ browser, origin, key, open } = map);
      await mkdir(PICTURES, { recursive: true });
      [known] = (await service.database.query<typeof known>(
        `select x.fid, p.label, st_y(p.point) as lat, st_x(p.point) as lng, a.belfiore, s.name || ' ' || a.number as text
         from section.address x join core.parcel p on p.fid = x.fid join core.access_point a on a.address_id = x.address_id join core.street s on s.street_id = a.street_id
         where x.ordinal = 1 and a.exponent is null and a.colour is null and st_intersects(p.geom, a.geom) order by x.fid limit 1`,
      )) as [typeof known];
    });
    afterAll(async () => {
      await map?.close();
      await service?.close();
    });

    const picture = (page: Page, name: string): Promise<unknown> => page.screenshot({ path: `${PICTURES}map-${name}.png` });
    const closeTo = ({ lat, lng }: { lat: number; lng: number }, more = ''): string => `#map=18/${lat}/${lng}${more}`;
    const title = (page: Page): Promise<string | null> => page.locator('#content h2').first().textContent();

    /** Returns the texts whose contrast with the background is below 4.5. */
    async function pale(page: Page, within: string): Promise<string[]> {
      return page.evaluate(`(() => {
        const parts = (colour) => (colour.match(/[\\d.]+/g) ?? []).map(Number);
        const light = ([r, g, b]) => [r, g, b].map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
        const behind = (each) => {
          for (let at = each; at !== null; at = at.parentElement) {
            const colour = parts(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
          }
          return [255, 255, 255];
        };
        return [...document.querySelectorAll('${within}')].filter((each) => each.checkVisibility() && [...each.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim() !== ''))
          .flatMap((each) => {
            const [a, b] = [light(parts(getComputedStyle(each).color)), light(behind(each))].sort((x, y) => y - x);
            const contrast = (a + 0.05) / (b + 0.05);
            return contrast < 4.5 ? [each.textContent.trim().slice(0, 40) + ' ' + contrast.toFixed(2)] : [];
          });
      })()`);
    }

    /** Starts a server with a sign-in link and with explanations of values, and opens a browser context that is not signed in. */
    async function signedIn(locale: string, options: BrowserContextOptions = {}) {
      const link = new SignInLink();
      const sources = await loadSources();
      const explain: Explain = (fid, section) => explainParcel({ database: service.database, sources }, fid, section, 60_000);
      const app = await buildServer({ reader: service.reader, version: VERSION, log: SILENT, signIn: link, explain });
      const home = await app.listen({ host: '127.0.0.1', port: 0 });
      const context = await newContext(browser, { locale, ...COARSE, ...options });
      const close = async (): Promise<void> => {
        await context.close();
        await app.close();
      };
      return { link, home, context, close };
    }

    it('open with the published regions in the colours of their coverage, without a token or a click', async () => {
      const page = await open('', { signed: false });
      expect(await page.locator('#content [data-region] h3').allTextContents()).toEqual(['Molise']);
      const comuni = await page.locator('#content [data-region] tbody th').allTextContents();
      expect(comuni.sort()).toEqual(service.region.comuni.map(({ italianName }) => italianName).sort());
      expect(await page.locator('#legend li').count()).toBe(4);
      await expect.poll(() => coloured(page, ['#2b7bba', '#79b1da', '#bcd7ec'])).toBeGreaterThan(20_000);
      expect(await page.locator('#status').textContent()).toContain('Sign in to see parcels');
      expect(await page.locator('#token').isVisible()).toBe(false);
      expect(await pale(page, 'body *')).toEqual([]);
      await picture(page, 'open');
      // The Enter key opens a comune without a token, and the coverage of the comune is shown.
      await page.locator('#content [data-region] th button').first().press('Enter');
      await page.locator('#content [data-section=coverage] .state').first().waitFor();
      expect(await page.locator('#content [data-section=coverage] tr').count()).toBeGreaterThanOrEqual(SECTIONS.length - 1);
      expect(new URL(page.url()).hash).toMatch(/comune=\w{4}/);
      await page.goBack();
      await expect.poll(() => title(page)).toBe('Published data');
      expect(map.paid).toEqual([]);
      await page.context().close();
    });

    it('sign in with a typed token, and report failures as text', async () => {
      const page = await open(closeTo(known), { ...COARSE, signed: false });
      await page.locator('header #sign').click();
      await page.getByLabel('Token', { exact: true }).fill('mpl_wrong');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('#status').textContent()).toMatch(/not known, has expired or was revoked/);
      await page.locator('#status button').click();
      await page.getByLabel('Token', { exact: true }).fill(key);
      await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
      await expect.poll(() => page.locator('#status').textContent()).toBe('Signed in.');
      await page.locator('#query').fill(String(known.fid));
      await page.keyboard.press('Enter');
      await expect.poll(() => title(page)).toContain(`Parcel ${known.label}`);
      await page.locator('#query').fill('38.5, 6.5');
      await page.keyboard.press('Enter');
      await expect.poll(() => page.locator('#status').textContent()).toMatch(/No parcel at/);
      await page.locator('header #sign').click();
      await expect.poll(() => title(page)).toBe('Published data');
      expect(await page.evaluate("sessionStorage.getItem('token')")).toBe(null);
      await page.context().close();
    });

    it('sign in with the server\'s link once, stay signed in on pages opened later, and show the same explanation as mappale explain', async () => {
      const { link, home, context, close } = await signedIn('en-GB');
      const at = async (hash: string): Promise<Page> => {
        const page = await context.newPage();
        page.on('request', (request) => void map.asked.add(request.url().startsWith(home) ? origin : new URL(request.url()).origin));
        await page.goto(`${home}${BASE}/map${hash}`);
        await page.locator('body[data-ready]').waitFor();
        return page;
      };
      const first = await at(`#signin=${link.secret}`);
      expect(first.url()).not.toContain(link.secret);
      expect(await first.evaluate('JSON.stringify([localStorage, sessionStorage, history.state, document.cookie])')).not.toContain(link.secret);
      // The page shows neither a sign-out button nor a token field, because the cookie authorises tiles and records.
      expect(await first.locator('header #sign').isVisible()).toBe(false);
      await first.locator('#query').fill(String(known.fid));
      await first.locator('#query').press('Enter');
      await first.getByRole('button', { name: 'Show the files' }).click();
      await expect.poll(() => first.locator('[data-section=files] tbody tr').count()).toBeGreaterThan(5);
      const asking = first.waitForResponse(/\/map\/explain\//);
      const section = first.locator('[data-section=address]');
      await section.getByRole('button', { name: /^Why/ }).press('Enter');
      const answer = (await (await asking).json()) as Explanation;
      const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, 'explain', String(known.fid), 'address', '--json'], { env: { DATABASE_URL: service.url, PATH: '/usr/bin:/bin' } });
      expect(answer).toEqual(JSON.parse(stdout));
      await section.locator('.ran[data-reproduced=true]').waitFor();
      const shown = await section.locator('ul.evidence li').allTextContents();
      expect([shown.length, answer.evidence.length > 0]).toEqual([answer.evidence.length, true]);
      for (const { value, source, vintage, file, position } of answer.evidence) {
        const parts = [value ?? 'nothing', `${source} ${vintage}`, file.slice(file.lastIndexOf('/') + 1), String(position)];
        expect(shown.filter((each) => parts.every((part) => each.replaceAll('\u200b', '').includes(part))), parts.join()).not.toEqual([]);
      }
      expect(await section.locator('.reasons code').textContent()).toBe(`mappale explain ${known.fid} address`);
      const second = await at(`#parcel=${known.fid}`);
      await second.locator('[data-section=attributions]').waitFor();
      const third = await at(`#signin=${link.secret}`);
      await expect.poll(() => third.locator('#status').textContent()).toMatch(/already used/);
      await close();
    });

    it('suggest addresses while the user types, and show the chosen address, its parcel, every section and the neighbours with three more requests', async () => {
      const page = await open('');
      const query = page.locator('#query');
      map.paid.length = 0;
      await query.focus();
      await query.pressSequentially(`${known.text}, ${service.region.comuni.find(({ belfiore }) => belfiore === known.belfiore)!.italianName}`);
      const options = page.locator('#suggestions [role=option]');
      await expect.poll(() => options.count()).toBeGreaterThan(0);
      expect(await query.getAttribute('aria-expanded')).toBe('true');
      await query.press('Escape');
      expect(await page.locator('#suggestions').isVisible()).toBe(false);
      await query.press('ArrowDown');
      expect(await query.getAttribute('aria-activedescendant')).toBe(await options.first().getAttribute('id'));
      expect(await options.first().getAttribute('aria-selected')).toBe('true');
      await picture(page, 'suggestions');
      // While typing, the page sends only address searches and suggestions.
      expect([...new Set(map.paid)].filter((path) => path !== '/geocode/search' && path !== '/map/suggestions')).toEqual([]);
      map.paid.length = 0;
      await query.press('Enter');
      await page.locator('[data-section=attributions]').waitFor();
      expect(await page.locator('#suggestions').isVisible()).toBe(false);
      expect(await title(page)).toContain(`Parcel ${known.label}`);
      await expect.poll(() => map.paid).toEqual(['/parcels/locate', `/parcels/${known.fid}`, `/parcels/${known.fid}/neighbours`]);
      for (const { name } of SECTIONS) expect(await page.locator(`[data-section=${name}] h3`).count(), name).toBe(1);
      await expect.poll(() => page.locator('[data-section=neighbours] button').count()).toBeGreaterThan(1);
      const before = await title(page);
      await page.locator('[data-section=neighbours] button').first().press('Enter');
      await expect.poll(() => title(page)).not.toBe(before);
      await page.goBack();
      await expect.poll(() => title(page)).toBe(before);
      await page.context().close();
    });

    it('draw each section from its tiles, and show the section\'s legend', async () => {
      const page = await open(closeTo(known));
      const { layers } = (await (await fetch(`${origin}${BASE}/map/overview.json`)).json()) as { layers: { name: string; kind: string; classes: { color: string; label: string }[]; not_applicable: string[] }[] };
      const drawn = layers.filter(({ kind }) => kind === 'category' || kind === 'number');
      expect(await page.locator('#choices input').count()).toBe(drawn.length + 2);
      for (const { name, classes, not_applicable: others } of drawn) {
        await page.locator(`#choices input[value=${name}]`).check();
        expect(await page.locator('#legend li').count(), name).toBe(classes.length + 2 + (others.length > 0 ? 1 : 0));
        if (others.length > 0) expect(await page.locator('#legend li').last().textContent(), name).toBe('Not applicable: road, water');
        expect(new URL(page.url()).hash).toContain(`layer=${name}`);
        // The remaining sections may have no values at this place.
        const colours = classes.map(({ color }) => color);
        if (EVERYWHERE.includes(name)) await expect.poll(() => coloured(page, colours)).toBeGreaterThan(5_000);
      }
      expect(await pale(page, '#legend *')).toEqual([]);
      await picture(page, 'layer');
      const last = drawn.find(({ name }) => name === EVERYWHERE[0])!;
      await page.locator(`#choices input[value=${last.name}]`).check();
      await page.locator('#opacity input').fill('100');
      await expect.poll(() => coloured(page, last.classes.map(({ color }) => color), 1)).toBeGreaterThan(5_000);
      await page.context().close();
    });

    it('show each value of a clicked parcel with unit, source and explanation, and distinguish unmapped places from places without values', async () => {
      const page = await open(closeTo(known, '&layer=risk'));
      const box = (await page.locator('#map').boundingBox())!;
      // Until the tiles have loaded, a click selects the comune.
      await page.waitForLoadState('networkidle');
      await expect.poll(async () => {
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        return page.locator('[data-section=basic]').count();
      }, { interval: 5_000 }).toBe(1);
      await expect.poll(() => title(page)).toContain(`Parcel ${known.label}`);
      expect(await page.locator('[data-field=area_m2] .unit').textContent()).toBe('m²');
      expect(await page.locator('[data-section=terrain] [data-field=elevation_mean] td').textContent()).toMatch(/\d m$/);
      for (const { name } of SECTIONS) expect(await page.locator(`[data-section=${name}] .source`).textContent(), name).toMatch(/^Source: .+/);
      // The explanation contains the rule of each value, the release, and the command that prints the file and position.
      const risk = page.locator('[data-section=risk]');
      expect(await risk.locator('.rule').first().isVisible()).toBe(false);
      await risk.getByRole('button', { name: /^Why/ }).press('Enter');
      expect(await risk.locator('.rule').first().isVisible()).toBe(true);
      expect(await risk.locator('.reasons code').textContent()).toBe(`mappale explain ${known.fid} risk`);
      expect(await risk.locator('.reasons p').count()).toBeGreaterThan(1);
      await page.getByRole('button', { name: 'Show the files' }).click();
      await expect.poll(() => page.locator('[data-section=files] tbody tr').count()).toBeGreaterThan(5);
      await risk.scrollIntoViewIfNeeded();
      await picture(page, 'record');
      expect(await page.locator('#content .value, #content td.number').count()).toBeGreaterThan(20);
      expect(await page.evaluate("[...document.querySelectorAll('#content .value, #content td.number')].filter((cell) => getComputedStyle(cell).whiteSpace !== 'nowrap').map((cell) => cell.textContent)")).toEqual([]);
      expect(await pale(page, '#content *')).toEqual([]);
      // Responds with a record that contains no points of interest (poi), once for each coverage state.
      const states = ['mapped', 'not_mapped', 'not_loaded', 'not_applicable'];
      const looks = [];
      const record = (await service.ask(`/parcels/${known.fid}`, { key })).body as { meta: { coverage: Record<string, string> } };
      let state = '';
      await page.route(`**/parcels/${known.fid}`, (route) => route.fulfill({ json: { ...record, poi: [], meta: { ...record.meta, coverage: { ...record.meta.coverage, poi: state } } } }));
      for (state of states) {
        await page.locator('#query').fill(String(known.fid));
        await page.locator('#query').press('Enter');
        const absent = page.locator(`[data-section=poi] [data-state=${state === 'mapped' ? 'none' : state}]`);
        await absent.waitFor();
        looks.push([await absent.textContent(), await absent.locator('.state').evaluate('(badge) => getComputedStyle(badge).backgroundImage + getComputedStyle(badge).borderStyle')].join());
      }
      expect(new Set(looks).size).toBe(states.length);
      await page.locator('[data-section=poi]').scrollIntoViewIfNeeded();
      await picture(page, 'absent');
      // For a road, sections that do not exist for roads show not applicable.
      const [road] = await service.database.query<{ fid: number }>("select fid from core.parcel where kind = 'road' order by fid limit 1");
      await page.locator('#query').fill(String(road!.fid));
      await page.locator('#query').press('Enter');
      await page.locator('[data-section=address] [data-state=not_applicable]').waitFor();
      for (const { name, kinds } of SECTIONS) {
        expect([name, await page.locator(`[data-section=${name}] [data-state=not_applicable]`).count()]).toEqual([name, kinds.includes('road') ? 0 : 1]);
      }
      expect(await page.locator('[data-section=address] .absent').textContent()).toBe('Not applicableThis section does not exist for parcels of this kind.');
      await page.context().close();
    });

    it('restore place, layer and parcel from the page\'s URL, in Italian if the browser is Italian', async () => {
      const page = await open(closeTo(known, `&layer=land_cover&parcel=${known.fid}`), { locale: 'it-IT' });
      await page.locator('[data-section=attributions]').waitFor();
      const address = page.url();
      expect(await title(page)).toContain(`Particella ${known.label}`);
      expect(await page.locator('html').getAttribute('lang')).toBe('it');
      expect(await page.locator('#choices input:checked').getAttribute('value')).toBe('land_cover');
      expect(await page.locator('[data-section=basic] .source').textContent()).toMatch(/^Fonte: /);
      expect(await page.locator('#legend h2').textContent()).toBe('Copertura del suolo, primo livello');
      expect(await page.locator('#legend li').last().textContent()).toBe('Non pertinente: strada, acqua');
      expect(await page.evaluate("[...document.querySelectorAll('[data-word]')].filter((each) => each.textContent === '').length")).toBe(0);
      for (const { name, italian } of panels()) expect(await page.locator(`[data-section=${name}] h3`).textContent(), name).toContain(italian?.title ?? 'no title in Italian');
      await picture(page, 'italian');
      await page.reload();
      await page.locator('[data-section=attributions]').waitFor();
      expect(page.url()).toBe(address);
      await page.locator('#language').click();
      await expect.poll(() => title(page)).toContain(`Parcel ${known.label}`);
      await page.context().close();
    });

    it('show each rule, each description of a field and each reason for a refusal in Italian', async () => {
      const { link, home, context, close } = await signedIn('it-IT');
      const page = await context.newPage();
      await page.goto(`${home}${BASE}/map#signin=${link.secret}`);
      await page.locator('body[data-ready]').waitFor();
      const ask = async (): Promise<void> => {
        await page.locator('#query').fill(String(known.fid));
        await page.locator('#query').press('Enter');
      };
      await ask();
      for (const { name } of SECTIONS) {
        const section = page.locator(`[data-section=${name}]`);
        await section.locator('.why').click();
        await section.locator('.ran[data-reproduced=true]').waitFor();
      }
      // Text without a translation is marked as English.
      expect(await page.locator('.found').count()).toBeGreaterThan(SECTIONS.length);
      expect(await page.locator('#content [lang=en]').allTextContents()).toEqual([]);
      expect(await page.locator('.maplibregl-ctrl-zoom-in').getAttribute('aria-label')).toBe('Avvicina');
      let code = '';
      await page.route(`**/parcels/${known.fid}`, (route) => route.fulfill({ status: STATUS[code as ErrorCode], json: { error: code, message: 'a message in English', details: { id: known.fid } } }));
      for (code of Object.keys(STATUS)) {
        await ask();
        await expect.poll(() => page.locator('#status.problem').textContent(), { message: code }).not.toMatch(/a message in English|Lettura/);
        await page.locator('#query').fill('1');
        await page.evaluate("document.querySelector('#status').classList.remove('problem')");
      }
      await page.goto(`${home}${BASE}/map`);
      await page.locator('#language').click();
      expect(await page.locator('.maplibregl-ctrl-zoom-in').getAttribute('aria-label')).toBe('Zoom in');
      await close();
    });

    it('fit a phone, with the search form on one line and the map visible above the record', async () => {
      const page = await open('', PHONE);
      const form = (await page.locator('body > header').boundingBox())!;
      expect(form.height).toBeLessThan(60);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      await picture(page, 'phone-open');
      await page.locator('#query').fill(String(known.fid));
      await page.locator('#query').press('Enter');
      await page.locator('[data-section=basic]').waitFor();
      await expect.poll(async () => (await page.locator('#record').boundingBox())!.y).toBeGreaterThan(844 * 0.45);
      expect(await page.locator('#suggestions').isVisible()).toBe(false);
      await picture(page, 'phone');
      await page.locator('#sheet').press('Enter');
      await expect.poll(async () => (await page.locator('#record').boundingBox())!.y).toBeLessThan(844 * 0.2);
      await page.context().close();
    });

    it('are readable in dark mode', async () => {
      const page = await open(closeTo(known, `&layer=terrain&parcel=${known.fid}`), { colorScheme: 'dark' });
      await page.locator('[data-section=attributions]').waitFor();
      expect(await page.evaluate('getComputedStyle(document.querySelector("#record")).backgroundColor')).toBe('rgb(26, 33, 41)');
      expect(await pale(page, '#content *, #legend *, #layers *, header *')).toEqual([]);
      await picture(page, 'dark');
      await page.context().close();
    });

    it('print the map, the legend and the whole record, without the controls of the screen', async () => {
      const page = await open(closeTo(known, `&layer=risk&parcel=${known.fid}`));
      await page.locator('[data-section=attributions]').waitFor();
      await page.emulateMedia({ media: 'print' });
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      for (const hidden of ['body > header', '#layers', '#status', '.why', '.maplibregl-ctrl-scale']) expect(await page.locator(hidden).first().isVisible(), hidden).toBe(false);
      for (const there of ['#map canvas', '#legend', '[data-section=basic]', '[data-section=attributions]', '#printed']) expect(await page.locator(there).isVisible(), there).toBe(true);
      expect(await page.locator('#printed').textContent()).toContain(`parcel=${known.fid}`);
      // The centre of the printed map is the centre of the map on the screen.
      const [drawn, view] = await Promise.all(['#map canvas', '#view'].map((each) => page.locator(each).boundingBox()));
      expect([drawn!.height <= view!.height, drawn!.width <= view!.width]).toEqual([true, true]);
      expect(await page.evaluate('getComputedStyle(document.querySelector("#map canvas")).objectFit')).toBe('cover');
      expect(await page.evaluate('getComputedStyle(document.querySelector("#record")).overflowY')).toBe('visible');
      await page.screenshot({ path: `${PICTURES}map-print.png`, fullPage: true });
      await page.context().close();
    });

    it('print in light colours with folded sections open, and return to dark mode afterwards', async () => {
      const page = await open(closeTo(known, `&parcel=${known.fid}`), { colorScheme: 'dark' });
      await page.locator('[data-section=attributions]').waitFor();
      await page.waitForLoadState('networkidle');
      const lightness = (): Promise<number> => page.evaluate(`(() => {
        const drawn = document.querySelector('#map canvas');
        const copy = Object.assign(document.createElement('canvas'), { width: drawn.width, height: drawn.height }).getContext('2d');
        copy.drawImage(drawn, 0, 0);
        const { data } = copy.getImageData(0, 0, drawn.width, drawn.height);
        return data.reduce((sum, part) => sum + part, 0) / data.length;
      })()`);
      const folded = await page.locator('#content details:not([open])').count();
      expect([await lightness() < 120, folded > 0]).toEqual([true, true]);
      const printed = picturesOf(await page.pdf({ printBackground: true }));
      expect([printed.length > 0, printed.filter((each) => each < 220)]).toEqual([true, []]);
      await expect.poll(lightness).toBeLessThan(120);
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      // The browser prints directly after this event.
      await page.evaluate("dispatchEvent(new Event('beforeprint'))");
      expect(await lightness()).toBeGreaterThan(220);
      expect(await page.locator('#content details:not([open])').count()).toBe(0);
      // Opened explanations are printed. Neighbours and files are shown only on the screen.
      const unseen = `[...document.querySelectorAll('#content tr')].filter((row) => row.closest('.rule, .rules, [data-section=neighbours], [data-section=files]') === null && !row.checkVisibility())`;
      expect(await page.evaluate(`${unseen}.map((row) => row.textContent)`)).toEqual([]);
      const grounds = await page.evaluate<string[]>("[...document.querySelectorAll('body, #view, #record, #legend, #content *')].filter((each) => each.checkVisibility()).map((each) => getComputedStyle(each).backgroundColor)");
      const dark = [...new Set(grounds)].map((colour) => colour.match(/[\d.]+/g)!.map(Number)).filter(([r = 0, g = 0, b = 0, opaque = 1]) => opaque > 0 && r + g + b < 3 * 100);
      expect(dark).toEqual([]);
      expect(await pale(page, '#content *, #legend *')).toEqual([]);
      expect(await page.evaluate("[...document.querySelectorAll('button, input, select, #view summary')].filter((each) => each.checkVisibility()).map((each) => each.outerHTML.slice(0, 80))")).toEqual([]);
      expect(await page.evaluate("[...document.querySelectorAll('#content .wide')].filter((each) => each.scrollWidth > each.clientWidth + 1).map((each) => each.closest('section').dataset.section)")).toEqual([]);
      await page.screenshot({ path: `${PICTURES}map-dark-print.png`, fullPage: true });
      await page.evaluate("dispatchEvent(new Event('afterprint'))");
      await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
      expect(await page.locator('#content details:not([open])').count()).toBe(folded);
      await expect.poll(lightness).toBeLessThan(120);
      await page.context().close();
    });

    it('name every field and button, and show the keyboard focus', async () => {
      const page = await open(closeTo(known, `&parcel=${known.fid}`), COARSE);
      await page.locator('[data-section=attributions]').waitFor();
      const nameless = await page.evaluate(`[...document.querySelectorAll('input, button, summary, [role=application], [role=region]')].filter((each) =>
        ![each.getAttribute('aria-label'), each.textContent, ...[...(each.labels ?? [])].map((label) => label.textContent)].some((text) => (text ?? '').trim() !== '')).map((each) => each.outerHTML.slice(0, 80))`);
      expect(nameless).toEqual([]);
      expect(await page.locator('[role=status][aria-live]').count()).toBe(1);
      // The keyboard moves through the page, and every focused element shows the focus.
      for (let step = 0; step < 12; step += 1) {
        await page.keyboard.press('Tab');
        const [name, outline] = await page.evaluate<[string, string]>('[document.activeElement.outerHTML.slice(0, 80), getComputedStyle(document.activeElement).outlineStyle]');
        expect(outline, name).not.toBe('none');
      }
      await page.context().close();
    });

    it('show the OpenAPI document with forms to try requests', async () => {
      const page = await (await newContext(browser, {})).newPage();
      await page.goto(`${origin}${BASE}/docs`);
      await page.getByText('Search addresses').waitFor();
      expect(await page.locator('.opblock').count()).toBeGreaterThanOrEqual(9);
      await page.screenshot({ path: `${PICTURES}docs.png` });
      await page.setViewportSize(PHONE.viewport);
      await page.screenshot({ path: `${PICTURES}docs-narrow.png` });
      await page.goto(origin);
      expect(page.url()).toBe(`${origin}${BASE}/docs`);
      await page.close();
    });

    it('send no request to other servers, and log nothing on the console', () => {
      expect([...map.asked].filter((each) => each !== origin && each !== 'null')).toEqual([]);
      // The browser also logs the refused request with the wrong token in an earlier test.
      expect(map.problems.filter((problem) => !/401 \(Unauthorized\)/.test(problem))).toEqual([]);
    });

    describe('for a region with markup in every text of a publisher', () => {
      /** The parcel with values in the most sections that contain publishers' texts, and the name of one of the parcel's streets. */
      let parcel: { fid: number; street: string };
      /** HTML of the region's report and of the comuni's quality passports, written before the markup is added. */
      let before: readonly string[];
      let marked: readonly string[];

      beforeAll(async () => {
        [parcel] = (await service.database.query<typeof parcel>(
          `select x.fid, min(s.name) as street
           from section.address x join core.access_point a on a.address_id = x.address_id join core.street s on s.street_id = a.street_id
             join (select fid, 'poi' as section from section.poi union all select fid, 'heritage' from section.cultural_heritage union all select fid, 'use' from section.land_use
               union all select fid, 'cover' from section.land_cover union all select fid, 'valuation' from section.valuation) y on y.fid = x.fid
           group by x.fid order by count(distinct y.section) desc, x.fid limit 1`,
        )) as [typeof parcel];
        before = await writtenPages();
        marked = await writeMarkup(service.database);
      });

      /** Returns the region's report and each comune's quality passport as HTML. */
      async function writtenPages(): Promise<string[]> {
        const context = await contextOf(readConfig({}), await loadSources(), service.database, SILENT);
        const region = findRegion(service.region.code)!;
        const report = regionPage(await readRegionReport(context, region), await readOutlines(context, region));
        const passports = service.region.comuni.map(async ({ belfiore }) => comunePage(await readPassport(service.reader, belfiore)));
        return [report, ...await Promise.all(passports)];
      }

      it('show the markup as text in lists, suggestions, records and explanations of the map', async () => {
        const { link, home, context, close } = await signedIn('en-GB', NO_POLICY);
        const page = await context.newPage();
        const served = (await page.goto(`${home}${BASE}/map#signin=${link.secret}`))!;
        const harmless = { ran: false, counts: countsOf(await served.text()), handlers: [], urls: [] };
        expect(scriptsOf(served)).toEqual(["'self'"]);
        await page.locator('body[data-ready]').waitFor();
        const always = ['core.comune.name', 'ledger.attribution.attribution'];
        expect(await auditOf(page, marked)).toEqual({ ...harmless, shown: always });
        await page.locator('#choices input[value=land_cover]').check();
        await page.locator('#content [data-region] th button').first().click();
        await page.locator('#content [data-section=coverage]').waitFor();
        expect(await auditOf(page, marked)).toEqual({ ...harmless, shown: always });
        await page.locator('#query').fill(parcel.street);
        await page.locator('#suggestions [role=option]').first().waitFor();
        expect(await auditOf(page, marked)).toEqual({ ...harmless, shown: expect.arrayContaining([...always, 'core.street.name']) });
        await page.locator('#query').fill(String(parcel.fid));
        await page.locator('#query').press('Enter');
        await page.locator('[data-section=attributions]').waitFor();
        const inRecords = [
          ...always, 'core.comune.province_name', 'core.parcel.label', 'core.street.name',
          ...['address', 'categories', 'class', 'name'].map((column) => `core.point_of_interest.${column}`),
          'core.quotation_zone.description', 'section.land_cover.description', 'section.land_use.class', 'section.risk.seismic_zone_label', 'layer.seismic_zone.label',
          'ledger.file.name', 'ledger.attribution.license', 'ledger.attribution.source',
        ];
        for (const language of ['en', 'it']) {
          expect(await page.locator('html').getAttribute('lang')).toBe(language);
          for (const why of await page.locator('#content .why').all()) await why.click();
          await expect.poll(() => page.locator('#content .ran').count()).toBe(SECTIONS.length);
          await page.locator('#content [data-section=files] button').click();
          await page.locator('#content [data-section=files] tbody tr').first().waitFor();
          expect(await auditOf(page, marked), language).toEqual({ ...harmless, shown: expect.arrayContaining(inRecords) });
          await page.locator('#language').click();
        }
        await close();
      });

      it('show the markup as text in the report and in quality passports', async () => {
        const page = await (await newContext(browser, NO_POLICY)).newPage();
        for (const [index, text] of (await writtenPages()).entries()) {
          await page.setContent(text);
          const ofLedger = ['file.name', 'reject.message', 'attribution.attribution', 'attribution.license', 'attribution.source'];
          const shown = ['core.comune.name', ...ofLedger.map((column) => `ledger.${column}`)];
          const harmless = { ran: false, counts: countsOf(before[index]!), handlers: [], urls: [] };
          expect(await auditOf(page, marked)).toEqual({ ...harmless, shown: expect.arrayContaining(shown) });
          expect(/<meta http-equiv="Content-Security-Policy" content="(.*?)">/.exec(text)?.[1]).toMatch(/default-src 'none'(?!.*script-src)/);
        }
        await page.context().close();
      });

      it('show the markup as text in responses on the documentation page', async () => {
        const page = await (await newContext(browser, NO_POLICY)).newPage();
        await page.setExtraHTTPHeaders({ 'x-api-key': key });
        const served = (await page.goto(`${origin}${BASE}/docs`))!;
        expect(scriptsOf(served)).toEqual(["'self'"]);
        const operation = page.locator('.opblock', { hasText: '/parcels/{id}' }).first();
        await operation.locator('.opblock-summary-control').click();
        await operation.getByRole('button', { name: 'Try it out' }).click();
        await operation.getByPlaceholder('id').fill(String(parcel.fid));
        const { shown: none, ...without } = await auditOf(page, marked);
        await operation.getByRole('button', { name: 'Execute' }).click();
        await operation.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();
        // Swagger UI shows the status before the text of a long response.
        const expected = ['core.comune.name', 'core.parcel.label', 'ledger.attribution.attribution', 'ledger.attribution.license'];
        await expect.poll(async () => (await auditOf(page, marked)).shown).toEqual(expect.arrayContaining(expected));
        const { shown: _, ...harmless } = await auditOf(page, marked);
        expect([none, harmless, without.handlers, without.urls, without.ran]).toEqual([[], without, [], [], false]);
        await page.context().close();
      });

      it('show texts that are also names of inherited properties, such as a place named constructor', async () => {
        const names = Object.getOwnPropertyNames(Object.prototype);
        const { link, home, context, close } = await signedIn('en-GB');
        const page = await context.newPage();
        const record = (await service.ask(`/parcels/${parcel.fid}`, { key })).body as { basic: object; poi: object[] };
        const poi = names.map((name) => ({ ...record.poi[0], name }));
        const basic = { ...record.basic, ...Object.fromEntries(names.map((name, index) => [`made_${index}`, name])) };
        await page.route(`**/parcels/${parcel.fid}`, (route) => route.fulfill({ json: { ...record, basic, poi } }));
        const evidence = names.map((value) => ({ field: 'name', value, rule: 'made rule', measure: null, unit: null, source: 'made', vintage: '2026', file: 'made.csv', sha256: '', member: '', position: 1 }));
        await page.route(`**/map/explain/${parcel.fid}/poi`, (route) => route.fulfill({ json: { not_applicable: null, rows: [{}], reproduced: true, empty: false, evidence, context: [] } }));
        await page.goto(`${home}${BASE}/map#signin=${link.secret}`);
        await page.locator('body[data-ready]').waitFor();
        await page.locator('#query').fill(String(parcel.fid));
        await page.locator('#query').press('Enter');
        for (const language of ['en', 'it']) {
          const section = page.locator(`html[lang=${language}] [data-section=poi]`);
          await section.locator('.why').click();
          await section.locator('.evidence li').first().waitFor();
          expect(await section.locator('.evidence strong').allTextContents(), language).toEqual(names);
          const cells = await section.locator('tbody td').allTextContents();
          expect(names.filter((name) => !cells.includes(name)), language).toEqual([]);
          const values = page.locator('[data-field^=made_]');
          expect(await values.locator('td').allTextContents(), language).toEqual(names);
          expect(await values.locator('.state').count(), language).toBe(0);
          await page.locator('#language').click();
        }
        await close();
      });
    });
  });
}, ['postgres']);
