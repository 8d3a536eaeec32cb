/** Tests what people do on the map in a real browser: search for parcels and streets, wait, choose layers, compare, download. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeEngines } from '../harness/database.ts';
import { regionService } from './harness.ts';
import { CHROMIUM, openMapBrowser, SOON, type MapBrowser } from './map-browser.ts';

describeEngines('the map in use', (engine) => {
  describe.skipIf(CHROMIUM === undefined)(CHROMIUM === undefined ? 'in a browser [not run, no Chromium: apt-get install chromium]' : 'in a browser', () => {
    let service: Awaited<ReturnType<typeof regionService>>;
    let map: MapBrowser;
    let known: { fid: number; label: string; sheet: string; reference: string; lat: number; lng: number; belfiore: string; comune: string };

    beforeAll(async () => {
      service = await regionService(engine);
      await service.database.query(`insert into core.region (code, name) values (12, 'Lazio') on conflict do nothing`);
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
    });
    afterAll(async () => {
      await map?.close();
      await service?.close();
    });

    describe('a search', () => {
      it('selects the parcel of a typed reference, or of a comune with foglio and particella', async () => {
        const page = await map.open('');
        const query = page.locator('#query');
        const [beginning = ''] = known.comune.split(' ');
        for (const text of [known.reference, `${beginning} foglio ${known.sheet} particella ${known.label}`, `${known.belfiore} fg. ${known.sheet} mapp. ${known.label}`]) {
          await page.goto(page.url().replace(/#.*/, '#layer=parcels'));
          await expect.poll(() => page.locator('#told h2').first().textContent(), SOON).toBe('Published data');
          await query.fill(text);
          await query.press('Enter');
          await expect.poll(() => page.locator('#told h2').first().textContent(), { ...SOON, message: text }).toBe(`Parcel ${known.label}, sheet ${known.sheet}`);
          expect(page.url()).toContain(`parcel=${known.fid}`);
        }
        await query.fill(`${known.comune}, foglio ${known.sheet}`);
        await expect.poll(() => page.locator('#suggestions [data-kind=parcel]').count(), SOON).toBeGreaterThan(1);
        expect(await page.locator('#suggestions [data-kind=parcel] small').first().textContent()).toMatch(/^no\. .+ · [\d,]+ m²$/);
        await query.fill(`${known.comune}, foglio 999 particella 1`);
        await query.press('Enter');
        await expect.poll(() => page.locator('#status').textContent(), SOON).toMatch(/^Nothing found for /);
        await page.context().close();
      });

      it('offers a street once and without a house number, and shows the place without choosing a parcel', async () => {
        const page = await map.open('');
        await page.locator('#query').fill('Via Roma');
        const streets = page.locator('#suggestions [data-kind=street]');
        await streets.first().waitFor();
        const names = await streets.locator('span').allTextContents();
        expect([names.some((name) => /\d/.test(name)), new Set(names).size]).toEqual([false, names.length]);
        await streets.first().click();
        await expect.poll(() => page.locator('#status').textContent(), SOON).toBe(names[0]);
        expect(page.url()).toMatch(/#map=17/);
        expect(page.url()).not.toContain('parcel=');
        await page.context().close();
      });

      it('names the region that is not loaded when a comune of it is typed', async () => {
        const page = await map.open('');
        const message = 'Roma is in Lazio, which is not loaded.';
        await page.locator('#query').fill('Roma');
        await expect.poll(() => page.locator('#status').textContent(), SOON).toBe(message);
        await page.locator('#query').press('Enter');
        await expect.poll(() => page.locator('#status').textContent(), SOON).toBe(message);
        expect(await page.locator('#told h2').first().textContent()).toBe('Published data');
        await page.context().close();
      });
    });

    describe('while it loads', () => {
      it('never states that nothing is published, and shows that it reads', async () => {
        const page = await map.open('', { isAwaited: false });
        let release = (): void => undefined;
        const held = new Promise<void>((resolve) => void (release = resolve));
        await page.route('**/map/overview.json*', async (route) => {
          await held;
          await route.continue();
        });
        await page.reload();
        await page.locator('#told [data-reading=reading]').waitFor();
        expect(await page.locator('#told').textContent()).toContain('Reading the published data');
        expect(await page.locator('#told').textContent()).not.toContain('Nothing is published');
        expect(await page.locator('#loading').textContent()).toBe('Reading the published data …');
        release();
        await page.locator('#told [data-region]').waitFor();
        await page.locator('body[data-ready]').waitFor();
        await expect.poll(() => page.locator('#loading').isVisible(), SOON).toBe(false);
        await page.context().close();
      });

      it('greys the panel only until the record has arrived, and not while neighbours are read', async () => {
        const page = await map.open('');
        let asked = 0;
        await page.route('**/parcels/locate?bbox=*', () => void (asked += 1));
        await page.locator('#query').fill(known.reference);
        await page.locator('#query').press('Enter');
        await page.locator('[data-section=attributions]').waitFor();
        await expect.poll(() => asked, SOON).toBe(1);
        expect(await page.locator('#record').getAttribute('aria-busy')).toBeNull();
        await page.context().close();
      });

      it('drops the grey when another view is chosen before the record arrives', async () => {
        const page = await map.open('');
        const asked = page.waitForRequest(`**/parcels/${known.reference}`);
        await page.route(`**/parcels/${known.reference}`, () => undefined);
        await page.locator('#query').fill(known.reference);
        await page.locator('#query').press('Enter');
        await asked;
        expect(await page.locator('#record').getAttribute('aria-busy')).toBe('true');
        await page.locator('#told [data-region] th button').first().press('Enter');
        await page.locator('#told [data-section=coverage]').waitFor();
        expect(await page.locator('#record').getAttribute('aria-busy')).toBeNull();
        await page.context().close();
      });
    });

    it('sends no request to other servers, and logs nothing on the console', () => {
      expect([[...map.asked].filter((each) => each !== map.origin && each !== 'null'), map.problems]).toEqual([[], []]);
    });
  });
}, ['postgres']);
