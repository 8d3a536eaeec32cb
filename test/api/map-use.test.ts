/** Tests the use of the map in a real browser: searching for parcels and streets, waiting, choosing layers, comparing, downloading. */
import { mkdir, readFile } from 'node:fs/promises';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHROMIUM, PICTURES } from '../harness/browser.ts';
import { describeEngines } from '../harness/database.ts';
import { regionService } from './harness.ts';
import { COARSE, openMapBrowser, overlaps, PHONE, pixels, type MapBrowser } from './map-browser.ts';

describeEngines('the map in use', (engine) => {
  describe.skipIf(CHROMIUM === undefined)(CHROMIUM === undefined ? 'in a browser [not run, no Chromium: apt-get install chromium]' : 'in a browser', () => {
    let service: Awaited<ReturnType<typeof regionService>>;
    let map: MapBrowser;
    let known: { fid: number; label: string; sheet: string; reference: string; lat: number; lng: number; belfiore: string; comune: string };
    /** Name of a comune that is not loaded. The name of a published comune begins with this name. */
    let unloaded: string;

    beforeAll(async () => {
      service = await regionService(engine);
      await service.database.query(`insert into core.region (code, name) values (8, 'Emilia-Romagna'), (12, 'Lazio') on conflict do nothing`);
      await service.database.query(
        `insert into core.comune (belfiore, istat_code, name, province_code, province_name, sigla, region_code) values ('H501', '058091', 'Roma', '058', 'Roma', 'RM', 12)`,
      );
      await service.database.query(`insert into core.place_name values ('roma', 'name', 'H501')`);
      map = await openMapBrowser(service);
      const [fid] = await service.database.query<{ fid: number }>("select min(p.fid) as fid from core.parcel p join section.address x on x.fid = p.fid where p.kind = 'land'");
      const { body } = await service.ask(`/parcels/${fid!.fid}?include=basic`, { key: map.key });
      const { basic, municipality } = body as unknown as {
        basic: { label: string; cadastral_reference: string; centroid: { lat: number; lng: number }; cadastral: { sheet: string } };
        municipality: { code: string; name: string };
      };
      known = {
        fid: fid!.fid, label: basic.label, sheet: basic.cadastral.sheet, reference: basic.cadastral_reference, ...basic.centroid,
        belfiore: municipality.code, comune: municipality.name,
      };
      unloaded = service.region.comuni.find(({ belfiore }) => belfiore !== known.belfiore)!.italianName.split(' ')[0]!;
      await service.database.query(
        `insert into core.comune (belfiore, istat_code, name, province_code, province_name, sigla, region_code)
         values ('X001', '040992', $1, '040', 'Forlì-Cesena', 'FC', 8)`, [unloaded],
      );
      await service.database.query(`insert into core.place_name select core.comune_key($1), 'name', 'X001'`, [unloaded]);
    });
    afterAll(async () => {
      await map?.close();
      await service?.close();
    });

    const picture = (page: Page, name: string): Promise<unknown> => page.screenshot({ path: `${PICTURES}map-${name}.png` });

    describe('the background of the map', () => {
      /** Returns the properties of the features that the map draws in the given layers. */
      const drawn = (page: Page, ...layers: string[]): Promise<Record<string, unknown>[]> => page.evaluate(`import('./map/state.js').then(({ state: { view: { map } } }) => (
        map.loaded() ? map.queryRenderedFeatures({ layers: ${JSON.stringify(layers)}.filter((each) => map.getLayer(each)) }).map(({ properties }) => properties) : []
      ))`);

      it('shows the outlines of buildings at close zooms only, and a click on a building opens its parcel', async () => {
        const [house] = await service.database.query<{ fid: number; lat: number; lng: number }>(
          `select p.fid, st_y(x.point) as lat, st_x(x.point) as lng
           from (select st_pointonsurface(geom) as point, area_m2 from layer.dbsn_building where counts union all select st_pointonsurface(geom), area_m2 from layer.dpc_building) x
           join core.parcel p on st_contains(p.geom, x.point) join section.buildings b on b.fid = p.fid where x.area_m2 between 60 and 400 order by p.fid limit 1`,
        );
        const page = await map.open(`#map=14.5/${house!.lat}/${house!.lng}`);
        const tiles: string[] = [];
        page.on('request', (request) => void tiles.push(request.url()));
        await expect.poll(() => drawn(page, 'parcel-area').then(({ length }) => length)).toBeGreaterThan(0);
        expect(tiles.filter((url) => url.includes('layer=footprints'))).toEqual([]);
        await page.goto(page.url().replace(/#.*/, `#map=18.5/${house!.lat}/${house!.lng}`));
        await expect.poll(() => drawn(page, 'building').then(({ length }) => length)).toBeGreaterThan(0);
        const box = (await page.locator('#map canvas').first().boundingBox())!;
        await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
        await expect.poll(() => page.url()).toContain(`parcel=${house!.fid}`);
        // If a section is drawn, the map shows only the outlines of buildings, without filling the buildings.
        await page.locator('#choices input[value=terrain]').check();
        await expect.poll(() => drawn(page, 'building-line').then(({ length }) => length)).toBeGreaterThan(0);
        expect(await drawn(page, 'building')).toEqual([]);
        await page.context().close();
      });

      it('shows the names of streets, and house numbers', async () => {
        const streets = await service.database.query<{ name: string; lat: number; lng: number; numbers: string[] }>(
          `select s.name, avg(st_y(a.geom)) as lat, avg(st_x(a.geom)) as lng, array_agg(api.street_number(a.number, a.exponent, a.colour, a.metric_m)) as numbers
           from core.access_point a join core.street s on s.region_code = a.region_code and s.street_id = a.street_id where a.geom is not null
           group by s.street_id, s.name having count(*) > 3 order by count(*) desc, s.street_id limit 1`,
        );
        const [{ name, lat, lng, numbers }] = streets as [(typeof streets)[number]];
        const page = await map.open(`#map=16.5/${lat}/${lng}`);
        await expect.poll(() => drawn(page, 'street-name', 'square-name').then((found) => found.map((each) => each['name']))).toContain(name);
        await page.goto(page.url().replace(/#.*/, `#map=18.5/${known.lat}/${known.lng}`));
        const every = (await service.database.query<{ number: string }>('select distinct api.street_number(a.number, a.exponent, a.colour, a.metric_m) as number from core.access_point a')).map(({ number }) => number);
        await expect.poll(() => drawn(page, 'house-number').then(({ length }) => length)).toBeGreaterThan(0);
        const shown = (await drawn(page, 'house-number')).map((each) => String(each['number']));
        expect(shown.filter((number) => !every.includes(number) || number === 'SNC')).toEqual([]);
        expect(numbers.length).toBeGreaterThan(3);
        await page.context().close();
      });

      it.each([[1280, 800], [390, 844]] as const)('is drawn without overlapping controls at %i × %i pixels, in both colour schemes', async (width, height) => {
        for (const colorScheme of ['light', 'dark'] as const) {
          const page = await map.open(`#map=17.4/${known.lat}/${known.lng}&layer=parcels`, { viewport: { width, height }, colorScheme });
          await expect.poll(() => drawn(page, 'building').then(({ length }) => length)).toBeGreaterThan(0);
          await expect.poll(() => drawn(page, 'street-name', 'square-name').then(({ length }) => length)).toBeGreaterThan(0);
          await picture(page, `ground-${width}-${colorScheme}`);
          expect(await overlaps(page)).toEqual([]);
          await page.context().close();
        }
      });
    });

    describe('a search', () => {
      it('selects the parcel if the user types a parcel reference, or a comune with foglio and particella', async () => {
        const page = await map.open('', COARSE);
        const query = page.locator('#query');
        const [beginning = ''] = known.comune.split(' ');
        for (const text of [known.reference, `${beginning} foglio ${known.sheet} particella ${known.label}`, `${known.belfiore} fg. ${known.sheet} mapp. ${known.label}`]) {
          // The page may still be loading when the search starts. The found parcel must stay selected.
          await page.goto(page.url().replace(/#.*/, ''));
          await expect.poll(() => page.locator('#content h2').first().textContent()).toBe('Published data');
          await query.fill(text);
          await query.press('Enter');
          await expect.poll(() => page.locator('#content h2').first().textContent(), { message: text }).toBe(`Parcel ${known.label}, sheet ${known.sheet}`);
          expect(page.url()).toContain(`parcel=${known.fid}`);
          // The search field then contains the reference, which is the same in both languages.
          expect(await query.inputValue()).toBe(known.reference);
        }
        await query.fill(`${known.comune}, foglio ${known.sheet}`);
        await expect.poll(() => page.locator('#suggestions [data-kind=parcel]').count()).toBeGreaterThan(1);
        expect(await page.locator('#suggestions [data-kind=parcel] small').first().textContent()).toMatch(/^no\. .+ · [\d,]+ m²$/);
        await query.fill(`${known.comune}, foglio 999 particella 1`);
        await query.press('Enter');
        await expect.poll(() => page.locator('#status').textContent()).toMatch(/^Nothing found for /);
        await page.context().close();
      });

      it('suggests a street once if the query has no house number, and shows the street without a selected parcel', async () => {
        const page = await map.open('', COARSE);
        await page.locator('#query').fill('Via Roma');
        const streets = page.locator('#suggestions [data-kind=street]');
        await streets.first().waitFor();
        const names = await streets.locator('span').allTextContents();
        expect([names.some((name) => /\d/.test(name)), new Set(names).size]).toEqual([false, names.length]);
        await streets.first().click();
        await expect.poll(() => page.locator('#status').textContent()).toBe(names[0]);
        expect(page.url()).toMatch(/#map=17/);
        expect(page.url()).not.toContain('parcel=');
        await page.context().close();
      });

      it('names the region of a typed comune if the region is not loaded', async () => {
        const page = await map.open('', COARSE);
        const message = 'Roma is in Lazio, which is not loaded.';
        await page.locator('#query').fill('Roma');
        await expect.poll(() => page.locator('#status').textContent()).toBe(message);
        await page.locator('#query').press('Enter');
        await expect.poll(() => page.locator('#status').textContent()).toBe(message);
        expect(await page.locator('#content h2').first().textContent()).toBe('Published data');
        await page.context().close();
      });

      it('finds nothing if the named comune has no such parcel, even if a comune whose name begins with this name has one', async () => {
        const [parcel] = await service.database.query<{ belfiore: string; sheet: string; label: string }>(
          `select p.belfiore, ltrim(p.sheet, '0') as sheet, p.label from core.parcel p where p.kind = 'land' and not exists (
             select from core.parcel q where q.belfiore <> p.belfiore and q.sheet = p.sheet and q.label = p.label) order by p.fid limit 1`,
        );
        const { belfiore, sheet, label } = parcel!;
        const named = service.region.comuni.find((comune) => comune.belfiore !== belfiore)!.italianName;
        const page = await map.open('', COARSE);
        await page.evaluate(`import('./map/state.js').then(({ state, comuniRead }) => comuniRead([
          { ...state.comuni.get('${belfiore}'), name: ${JSON.stringify(`${named} Superiore`)} }]))`);
        await page.locator('#query').fill(`${named} foglio ${sheet} particella ${label}`);
        await page.locator('#query').press('Enter');
        await expect.poll(() => page.locator('#status').textContent()).toMatch(/^Nothing found for /);
        expect(page.url()).not.toContain('parcel=');
        await page.locator('#query').fill(`${named} Superiore foglio ${sheet} particella ${label}`);
        await page.locator('#query').press('Enter');
        await expect.poll(() => page.locator('#content h2').first().textContent()).toBe(`Parcel ${label}, sheet ${sheet}`);
        await page.context().close();
      });

      it('opens no comune and no parcel if the typed name is the name of a comune that is not loaded, even if a published name begins with this name', async () => {
        const [parcel] = await service.database.query<{ sheet: string; label: string }>(
          "select ltrim(sheet, '0') as sheet, label from core.parcel where belfiore <> $1 and kind = 'land' order by fid limit 1", [known.belfiore],
        );
        for (const text of [unloaded, `${unloaded} foglio ${parcel!.sheet} particella ${parcel!.label}`]) {
          const page = await map.open('', COARSE);
          await page.locator('#query').fill(text);
          await page.locator('#query').press('Enter');
          await expect.poll(() => page.locator('#status').textContent(), { message: text }).toBe(`${unloaded} is in Emilia-Romagna, which is not loaded.`);
          expect([await page.locator('#content h2').first().textContent(), new URL(page.url()).hash.includes('comune=')]).toEqual(['Published data', false]);
          await page.context().close();
        }
      });

      it('opens a published comune if the typed text is the beginning of its name and no comune has the typed name', async () => {
        const page = await map.open('', COARSE);
        await page.locator('#query').fill(known.comune.slice(0, -2));
        await page.locator('#query').press('Enter');
        await expect.poll(() => page.url()).toContain(`comune=${known.belfiore}`);
        await page.context().close();
      });
    });

    describe('while data is loading', () => {
      it('shows that data is being read, and never that nothing is published', async () => {
        const page = await map.open('', { ...COARSE, isAwaited: false });
        let release = (): void => undefined;
        const held = new Promise<void>((resolve) => void (release = resolve));
        await page.route('**/map/overview.json*', async (route) => {
          await held;
          await route.continue();
        });
        await page.reload();
        await page.locator('#content [data-reading=reading]').waitFor();
        expect(await page.locator('#content').textContent()).toContain('Reading the published data');
        expect(await page.locator('#content').textContent()).not.toContain('No region is published');
        expect(await page.locator('#loading').textContent()).toBe('Reading the published data …');
        release();
        await page.locator('#content [data-region]').waitFor();
        await page.locator('body[data-ready]').waitFor();
        await expect.poll(() => page.locator('#loading').isVisible()).toBe(false);
        await page.context().close();
      });

      it('does not grey the panel while neighbours are read', async () => {
        const page = await map.open('', COARSE);
        let asked = 0;
        await page.route('**/parcels/*/neighbours*', () => void (asked += 1));
        await page.locator('#query').fill(known.reference);
        await page.locator('#query').press('Enter');
        await page.locator('[data-section=attributions]').waitFor();
        await expect.poll(() => asked).toBe(1);
        expect(await page.locator('#record').getAttribute('aria-busy')).toBeNull();
        await page.context().close();
      });

      it('removes the grey as soon as the record has arrived, without waiting for a timer, a frame or a different response', async () => {
        const page = await map.open('', COARSE);
        // Records the events between the arrival of the record and the moment when the panel is no longer grey.
        await page.evaluate(`(() => {
          window.noted = [];
          const note = (event) => window.noted.push(event);
          const { json } = Response.prototype;
          Response.prototype.json = async function () {
            const body = await json.call(this);
            note('answer ' + new URL(this.url).pathname.split('/').at(-2));
            return body;
          };
          for (const name of ['setTimeout', 'requestAnimationFrame']) {
            const before = window[name];
            window[name] = (act, ...rest) => before((...given) => { note(name); return act(...given); }, ...rest);
          }
          new MutationObserver(() => note(document.querySelector('#record').hasAttribute('aria-busy') ? 'grey' : 'shown'))
            .observe(document.querySelector('#record'), { attributes: true, attributeFilter: ['aria-busy'] });
        })()`);
        const ask = async (text: string): Promise<string[]> => {
          await page.evaluate('window.noted.length = 0');
          await page.locator('#query').fill(text);
          await page.locator('#query').press('Enter');
          await expect.poll(() => page.evaluate("window.noted.includes('shown')")).toBe(true);
          return page.evaluate<string[]>('window.noted');
        };
        for (const text of [String(known.fid), known.reference]) {
          const noted = await ask(text);
          const answered = noted.lastIndexOf('answer parcels', noted.indexOf('shown'));
          expect([text, noted.indexOf('grey') >= 0, answered > noted.indexOf('grey'), noted.slice(answered, noted.indexOf('shown') + 1)]).toEqual([text, true, true, ['answer parcels', 'shown']]);
        }
        await page.context().close();
      });

      it('removes the grey if the user chooses a different view before the record arrives', async () => {
        const page = await map.open('', COARSE);
        const asked = page.waitForRequest(`**/parcels/${known.reference}`);
        await page.route(`**/parcels/${known.reference}`, () => undefined);
        await page.locator('#query').fill(known.reference);
        await page.locator('#query').press('Enter');
        await asked;
        expect(await page.locator('#record').getAttribute('aria-busy')).toBe('true');
        await page.locator('#content [data-region] th button').first().press('Enter');
        await page.locator('#content [data-section=coverage]').waitFor();
        expect(await page.locator('#record').getAttribute('aria-busy')).toBeNull();
        await page.context().close();
      });
    });

    describe('the drawn layer', () => {
      const at = (layer: string, zoom = 18): string => `#map=${zoom}/${known.lat}/${known.lng}&layer=${layer}`;
      /** Returns the colours of the legend's swatches. */
      const swatches = (page: Page): Promise<string[]> => page.evaluate("[...document.querySelectorAll('#legend li i')].map((each) => getComputedStyle(each).backgroundColor)");

      it.each(['light', 'dark'] as const)('is drawn in the colours of its legend, even after a change of opacity: %s', async (colorScheme) => {
        const page = await map.open(at('terrain'), { colorScheme });
        for (const opacity of ['75', '100', '30']) {
          await page.locator('#opacity input').fill(opacity);
          // The parcels in view may have only some of the classes.
          await expect.poll(async () => {
            const drawn = await pixels(page);
            return (await swatches(page)).slice(0, -3).filter((colour) => (drawn.get(colour) ?? 0) > 5_000).length;
          }, { message: opacity }).toBeGreaterThan(0);
        }
        await page.context().close();
      });

      it('distinguishes a missing value from a count of 0', async () => {
        const page = await map.open(at('address'), COARSE);
        const named = async (): Promise<Record<string, string>> => Object.fromEntries((await page.locator('#legend li').allTextContents()).map((text, index) => [text, String(index)]));
        const [labels, colours] = [await named(), await swatches(page)];
        expect(colours[Number(labels['0'])]).not.toBe(colours[Number(labels['No address'])]);
        await page.context().close();
      });

      it('can be flood hazard, landslide hazard or seismic zone, each with its own legend', async () => {
        const page = await map.open(at('address'), COARSE);
        for (const [value, heading] of [['risk', 'Flood hazard'], ['risk_landslide', 'Landslide hazard'], ['risk_seismic', 'Seismic zone']] as const) {
          await page.locator(`#choices [data-group=hazards] input[value=${value}]`).check();
          expect(await page.locator('#legend h2').textContent()).toBe(heading);
        }
        await page.context().close();
      });

      it('computes classes from the parcels in view on request, and hides classes that the user turns off', async () => {
        const page = await map.open(at('terrain', 16));
        const rows = page.locator('#legend [role=checkbox]');
        const usual = await rows.allTextContents();
        const button = page.locator('#legend .breaks');
        // The classes are computed from the parcels that are drawn.
        await expect.poll(async () => {
          await button.click();
          return await button.textContent() === 'Default classes' && (await rows.allTextContents()).join() !== usual.join();
        }).toBe(true);
        await expect.poll(async () => {
          const drawn = await pixels(page);
          return (await swatches(page)).slice(0, await rows.count()).filter((colour) => (drawn.get(colour) ?? 0) > 500).length;
        }).toBeGreaterThan(1);
        await button.click();
        expect(await rows.allTextContents()).toEqual(usual);
        const colour = async (): Promise<number> => {
          const drawn = await pixels(page);
          return Math.max(...(await swatches(page)).slice(0, usual.length).map((each) => drawn.get(each) ?? 0));
        };
        await expect.poll(colour).toBeGreaterThan(500);
        for (const row of await rows.all()) await row.press('Space');
        expect(await page.locator('#legend [aria-checked=false]').count()).toBe(usual.length);
        await expect.poll(colour).toBeLessThan(500);
        await page.context().close();
      });

      it('shows and saves only the parcels that meet the condition of the user, or both of two conditions', async () => {
        const page = await map.open(at('parcels', 17));
        /** Saves the parcels that are drawn, and returns their fids. */
        const drawn = async (): Promise<number[]> => {
          const waiting = page.waitForEvent('download');
          await page.locator('#save-geojson').click();
          const { features } = JSON.parse(await readFile(await (await waiting).path(), 'utf8')) as { features: { id: number }[] };
          return features.map(({ id }) => id);
        };
        const lines = async (): Promise<number> => (await pixels(page)).get('rgb(111, 106, 94)') ?? 0;
        await expect.poll(lines).toBeGreaterThan(500);
        const all = await drawn();
        const rows = await service.database.query<{ fid: number; area_m2: number; level: string | null }>(
          'select p.fid, p.area_m2, r.flood_level as level from core.parcel p left join section.risk r using (fid) where p.fid = any ($1)', [all],
        );
        const middle = Math.round(rows.map((each) => each.area_m2).sort((a, b) => a - b)[Math.floor(all.length / 2)]!);
        await page.locator('#filters > summary').click();
        await page.locator('#conditions select').selectOption('parcels');
        await page.locator('[data-filter=parcels] [name=from]').fill(String(middle));
        const large = rows.filter((each) => Math.round(each.area_m2) >= middle).map(({ fid }) => fid).sort();
        await expect.poll(async () => (await drawn()).sort()).toEqual(large);
        expect(large.length).toBeLessThan(all.length);
        await page.locator('[data-filter=parcels] [name=from]').fill('1e9');
        await expect.poll(lines).toBe(0);
        await page.locator('[data-filter=parcels] button').click();
        await page.locator('#conditions select').selectOption('risk');
        await page.locator('[data-filter=risk] input[value=""]').uncheck();
        const threatened = rows.filter(({ level }) => level !== null).map(({ fid }) => fid).sort();
        expect(threatened.length).toBeGreaterThan(0);
        await expect.poll(async () => (await drawn()).sort()).toEqual(threatened);
        // Both conditions together.
        const areas = rows.filter(({ level }) => level !== null).map((each) => Math.round(each.area_m2)).sort((a, b) => a - b);
        const least = areas[Math.ceil(areas.length / 2)]!;
        await page.locator('#conditions select').selectOption('parcels');
        await page.locator('[data-filter=parcels] [name=from]').fill(String(least));
        const both = rows.filter((each) => each.level !== null && Math.round(each.area_m2) >= least).map(({ fid }) => fid).sort();
        expect([both.length > 0, both.length < threatened.length]).toEqual([true, true]);
        await expect.poll(async () => (await drawn()).sort()).toEqual(both);
        await page.context().close();
      });

      it('restores the filters from the URL, in a new tab and after going back, and ignores filters of unknown layers', async () => {
        const page = await map.open(at('parcels', 17), COARSE);
        const state = (of: Page): Promise<unknown> => of.evaluate(`[...document.querySelectorAll('#conditions fieldset')].map((each) => [
          each.dataset.filter, ...[...each.querySelectorAll('input')].map((input) => (input.type === 'checkbox' ? [input.value, input.checked] : input.value))])`);
        await page.locator('#filters > summary').click();
        await page.locator('#conditions select').selectOption('parcels');
        await page.locator('[data-filter=parcels] [name=from]').fill('500.5');
        await page.locator('#conditions select').selectOption('risk');
        await page.locator('[data-filter=risk] input[value=""]').uncheck();
        const chosen = await state(page);
        const address = page.url();
        await page.locator('[data-filter=risk] button').click();
        expect(page.url()).not.toBe(address);
        await page.context().close();

        const other = await map.open(`${new URL(address).hash}&filter=parcels~1~2&filter=nowhere~1~2&filter=%25`, COARSE);
        expect(await state(other)).toEqual(chosen);
        expect(await other.locator('#conditions').isVisible()).toBe(true);
        expect(new URL(other.url()).hash).toBe(new URL(address).hash);
        await other.evaluate("location.hash += '&filter=buildings'");
        await expect.poll(() => state(other)).toHaveLength(3);
        await other.goBack();
        await expect.poll(() => state(other)).toEqual(chosen);
        await other.context().close();
      });

      it('is chosen from groups, and a folded group stays folded when the language changes', async () => {
        const page = await map.open('', COARSE);
        await page.locator('[data-group=people] summary').click();
        expect(await page.locator('[data-group=people] input').first().isVisible()).toBe(false);
        await page.locator('#language').click();
        await expect.poll(() => page.locator('[data-group=hazards] summary').textContent()).toBe('Pericoli');
        expect(await page.locator('[data-group=people] input').first().isVisible()).toBe(false);
        await page.context().close();
      });
    });

    it('saves the record and the parcels in view, and shows two parcels side by side', async () => {
      const page = await map.open(`#map=18/${known.lat}/${known.lng}&layer=parcels&parcel=${known.fid}`);
      await page.locator('[data-section=attributions]').waitFor();
      const saved = async (button: Locator): Promise<string> => {
        const waiting = page.waitForEvent('download');
        await button.click();
        const file = await waiting;
        return `${file.suggestedFilename()}\n${await readFile(await file.path(), 'utf8')}`;
      };
      const [name, feature = ''] = (await saved(page.getByRole('button', { name: 'Save as GeoJSON' }))).split('\n');
      const { body } = await service.ask(`/parcels/${known.fid}`, { key: map.key });
      const { basic: { geometry, ...basic }, ...record } = body as unknown as { basic: { geometry: unknown } };
      expect([name, JSON.parse(feature)]).toEqual([`${known.reference}.geojson`, { type: 'Feature', id: known.fid, geometry, properties: { ...record, basic } }]);
      expect(await saved(page.getByRole('button', { name: 'Save as CSV' }))).toContain(`\nbasic,cadastral_reference,${known.reference},\r\n`);
      const view = JSON.parse((await saved(page.locator('#save-geojson'))).split('\n')[1]!) as { features: { id: number }[] };
      const rows = (await saved(page.locator('#save-csv'))).split('\r\n').slice(1, -1);
      expect([view.features.some(({ id }) => id === known.fid), rows.map((row) => Number(row.split(',')[0]))]).toEqual([true, view.features.map(({ id }) => id)]);
      await page.getByRole('button', { name: 'Compare' }).click();
      expect(await page.locator('#status').textContent()).toBe(`Choose the parcel to compare with parcel ${known.label}.`);
      await page.locator('[data-section=neighbours] button').first().click();
      await expect.poll(() => page.locator('#content h2').textContent()).toBe('Comparison');
      const named = await page.locator('#content > header td button').allTextContents();
      expect([named[0], new Set(named).size]).toEqual([known.reference, 2]);
      // Each reference is on one line inside its cell.
      await page.setViewportSize({ width: 1280, height: 800 });
      expect(await page.evaluate(`[...document.querySelectorAll('#content > header td button')].map((each) => {
        const text = document.createRange();
        text.selectNodeContents(each);
        return [text.getClientRects().length, each.getBoundingClientRect().left >= each.parentElement.getBoundingClientRect().left];
      })`)).toEqual([[1, true], [1, true]]);
      await picture(page, 'comparison-1280');
      expect(await page.locator('[data-section=terrain] tr:first-child td').count()).toBe(2);
      // For a missing hazard level, the map shows the reason instead of a dash.
      expect(await page.locator('[data-section=risk] tr', { hasText: 'hazard' }).locator('td').allTextContents()).not.toContain('–');
      await page.locator('#content > header td button').first().click();
      await expect.poll(() => page.locator('#content h2').textContent()).toBe(`Parcel ${known.label}, sheet ${known.sheet}`);
      await page.context().close();
    });

    it.each([
      ['1280×800', { viewport: { width: 1280, height: 800 } }], ['390×844', PHONE],
    ] as const)('lays out panels, messages and controls without overlap, in both languages and colour schemes: %s', async (size, options) => {
      await mkdir(PICTURES, { recursive: true });
      const page = await map.open(`#map=17/${known.lat}/${known.lng}&layer=valuation_history`, options);
      for (const step of ['open', 'record', 'comparison']) {
        if (step === 'record') {
          await page.locator('#query').fill(known.reference);
          await page.locator('#query').press('Enter');
          await page.locator('[data-section=attributions]').waitFor();
        } else if (step === 'comparison') {
          await page.locator('.actions button').last().click();
          await page.locator('[data-section=neighbours] button').first().click();
          await page.locator('table.compared').first().waitFor();
        }
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          for (const language of ['en', 'it']) {
            if (await page.locator('html').getAttribute('lang') !== language) await page.locator('#language').click();
            const name = [size.replace('×', 'x'), language, colorScheme, step].join('-');
            await expect.poll(() => overlaps(page), { message: name }).toEqual([]);
            await expect.poll(() => page.locator('#loading').isVisible()).toBe(false);
            await page.screenshot({ path: `${PICTURES}map-${name}.png` });
          }
        }
      }
      await page.context().close();
    });

    describe('a record', () => {
      it('starts with a summary, lists identifiers last, and shows all digits of a rounded number in a tooltip', async () => {
        const page = await map.open(`#parcel=${known.fid}`, COARSE);
        await page.locator('[data-section=attributions]').waitFor();
        const sections = await page.locator('#content [data-section]').evaluateAll((all) => all.map((each) => (each as unknown as { dataset: { section: string } }).dataset.section));
        expect([sections[0], sections.indexOf('basic') > sections.indexOf('risk')]).toEqual(['summary', true]);
        const named = await page.locator('[data-summary] th').allTextContents();
        expect(named).toEqual(expect.arrayContaining(['Kind', 'Area', 'Flood hazard', 'Landslide hazard', 'Seismic zone', 'Average income', 'Residents, estimated']));
        expect((await page.locator('[data-section=basic] > table [data-field]').last().getAttribute('data-field'))).toBe('gml_id');
        const { body } = await service.ask(`/parcels/${known.fid}?include=basic`, { key: map.key });
        const area = (body as unknown as { basic: { area_m2: number } }).basic.area_m2;
        const shown = page.locator('[data-section=basic] [data-field=area_m2] .value');
        expect([await shown.textContent(), await shown.getAttribute('title')]).toEqual([`${Math.round(area).toLocaleString('en-GB')} m²`, String(area)]);
        await page.context().close();
      });

      it('lists the parcels that share a border with the parcel, even if the parcel is long, with the longest shared border first', async () => {
        const [road] = await service.database.query<{ fid: number }>(
          "select fid from core.parcel where kind = 'road' order by st_area(st_envelope(geom)) desc, fid limit 1",
        );
        for (const fid of [known.fid, road!.fid]) {
          const { body } = await service.ask(`/parcels/${fid}/neighbours?limit=24`, { key: map.key });
          const labels = (body as unknown as { data: { label: string }[] }).data.map(({ label }) => label);
          expect(labels.length).toBeGreaterThan(1);
          const page = await map.open(`#parcel=${fid}`, COARSE);
          await expect.poll(() => page.locator('[data-section=neighbours] button').allTextContents()).toEqual(labels);
          await page.context().close();
        }
      });

      it('names classes of land in the language of the page', async () => {
        const [cover] = await service.database.query<{ fid: number; description: string }>('select fid, description from section.land_cover order by fid limit 1');
        const [use] = await service.database.query<{ fid: number; class: string }>('select fid, class from section.land_use where class is not null order by fid limit 1');
        const page = await map.open('', COARSE);
        const read = async (fid: number, field: string): Promise<string | null> => {
          await page.locator('#query').fill(String(fid));
          await page.locator('#query').press('Enter');
          await expect.poll(() => page.url()).toContain(`parcel=${fid}`);
          return page.locator(field).textContent();
        };
        const fields = { cover: '[data-section=land_cover] [data-field=description] td', use: '[data-section=land_use] [data-field=class] td' };
        expect(await read(cover!.fid, fields.cover)).not.toBe(cover!.description);
        expect(await read(use!.fid, fields.use)).toBe(use!.class);
        await page.locator('#language').click();
        expect(await read(cover!.fid, fields.cover)).toBe(cover!.description);
        expect(await read(use!.fid, fields.use)).not.toBe(use!.class);
        await page.context().close();
      });
    });

    it('sends no request to other servers, and logs nothing on the console', () => {
      expect([[...map.asked].filter((each) => each !== map.origin && each !== 'null'), map.problems]).toEqual([[], []]);
    });
  });
}, ['postgres']);
