/** Tests that the dossier of a parcel shows its values with the texts of the sections, in both languages. The dossier is a self-contained page. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { dossierPage } from '../../api/report/dossier.ts';
import { html } from '../../api/report/html.ts';
import { labelOf, LANGUAGES, panelsIn, valueOf } from '../../api/report/record-values.ts';
import { dossierCommand } from '../../cli/dossier.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { findBrowser, printPdf } from '../../pipelines/formats/pdf.ts';
import { readDossier, type Dossier } from '../../pipelines/operate/dossier.ts';
import { CHROMIUM, lookAt } from '../harness/browser.ts';
import { describeDatabase } from '../harness/database.ts';
import { loadedRegion, REGIONS } from '../harness/loaded-region.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

/** Matches markup that would make a browser fetch, run or send something. */
const REACHING = /<(?:script|link|img|iframe|object|embed|form|base)\b|<[^>]*\s(?:src|on[a-z]+)=|@import|url\((?!#)/i;

const HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u202e';

/** Replaces every text of a dossier, except texts that the page interprets, with hostile text. */
function hostile(dossier: Dossier): Dossier {
  const kept = new Set(['type', 'section', 'published_at', 'sections_included']);
  return JSON.parse(JSON.stringify(dossier), function (this: unknown, key, value: unknown) {
    return typeof value !== 'string' || kept.has(key) || (Array.isArray(this) && SECTIONS.some(({ name }) => name === value)) ? value : HOSTILE;
  }) as Dossier;
}

describeDatabase('the dossier of a parcel', (engine) => {
  let database: Database;
  let dossier: Dossier;
  const folder = temporaryFolder();

  beforeAll(async () => {
    database = await engine.openDatabase(await loadedRegion(engine, ...REGIONS.usual));
    // The parcel has addresses, and most sections have values for it.
    const [parcel] = await database.query<{ fid: number }>("select p.fid from core.parcel p join section.address a using (fid) where p.kind = 'land' order by p.fid limit 1");
    dossier = (await readDossier(database, parcel!.fid))!;
  });

  const pageIn = async (language: (typeof LANGUAGES)[number], shown = dossier): Promise<string> => dossierPage(shown, panelsIn(language), language);

  it.each(LANGUAGES)('shows each section with its title, labels, values and units (%s)', async (language) => {
    const page = await pageIn(language);
    expect(page).toContain(`<html lang="${language}">`);
    for (const panel of panelsIn(language)) {
      expect(page).toContain(html`<h2>${panel.title}</h2>`.text);
      const block = dossier.record[panel.name];
      if (block === null || Array.isArray(block)) continue;
      for (const [field, value] of Object.entries(block as Record<string, unknown>)) {
        if (typeof value !== 'number' || panel.map.list?.field === field) continue;
        expect(page).toContain(html`<td>${labelOf(field, panel)}</td><td>${valueOf(field, value, panel)}</td>`.text);
      }
    }
  });

  it('takes labels, units and terms from the description of the section', async () => {
    const [english, italian] = LANGUAGES.map((language) => panelsIn(language).find(({ name }) => name === 'economics')!);
    expect([labelOf('average_income', english!), valueOf('average_income', 21_345.67, english!)]).toEqual(['Average income', '21,346 €']);
    expect([labelOf('average_income', italian!), valueOf('average_income', 21_345.67, italian!)]).toEqual(['Reddito medio', '21.346 €']);
    expect([valueOf('affordability_index', 6.789, english!), valueOf('affordability_index', 6.789, italian!)]).toEqual(['6.79 years', '6,79 anni']);
    expect([valueOf('level', 'cap', english!), valueOf('level', 'cap', italian!)]).toEqual(['postal code', 'CAP']);
    expect([valueOf('tax_year', 2023, english!), valueOf('tax_year', null, english!)]).toEqual(['2023', '–']);
  });

  it('names the parcel, the sources with their periods, the publication and the neighbours', async () => {
    const page = await pageIn('en');
    const { basic, meta } = dossier.record;
    for (const text of [basic.cadastral_reference, dossier.published_at.slice(0, 10), ...meta.licenses.flatMap(({ source, reference_period: period, attribution }) => [source, period ?? 'not stated', attribution])]) {
      expect(page).toContain(html`${text}`.text);
    }
    expect(dossier.neighbours.length).toBeGreaterThan(0);
    for (const { cadastral_reference: reference } of dossier.neighbours) expect(page).toContain(html`<td>${reference}</td>`.text);
  });

  it('draws the parcel inside the map, with its label and the parcels around it', async () => {
    const page = await pageIn('en');
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(page)!.map(Number);
    const map = /<svg class="lots".*?<\/svg>/s.exec(page)![0];
    expect(map.match(/<path /g)).toHaveLength(dossier.around.length);
    expect(map.match(/class="own"/g)).toHaveLength(1);
    const [, corner] = /class="own" d="M([^L]+)L/.exec(map)!;
    const [x, y] = corner!.split(' ').map(Number);
    expect([x! > 0, x! < width!, y! > 0, y! < height!]).toEqual([true, true, true, true]);
    expect(map).toContain(html`class="name">${dossier.record.basic.label}</text>`.text);
  });

  it('has no scripts and sends no requests, even with hostile texts, and has a print style', async () => {
    for (const shown of [dossier, hostile(dossier)]) {
      const page = await pageIn('it', shown);
      expect(REACHING.exec(page)).toBe(null);
      expect(page).toContain('@media print');
      expect(page).not.toContain('\u202e');
    }
    expect(await pageIn('it', hostile(dossier))).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  it('is not created for a fid without a parcel', async () => {
    expect(await readDossier(database, 1_499_999_999)).toBe(null);
  });

  it('is refused in a format other than HTML or PDF, and the error names both formats', async () => {
    const refused = await dossierCommand().parseAsync(['H833_001300.594', '--out', 'x.txt'], { from: 'user' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'DOSSIER_FORMAT', kind: 'usage', message: 'dossier can write only HTML or PDF' });
  });

  it('is refused as PDF before any work if there is no browser, and the error states how to write HTML', async () => {
    expect(await findBrowser(undefined, []).catch((error: unknown) => error)).toMatchObject({ code: 'BROWSER_MISSING', kind: 'usage', hint: expect.stringContaining('--out FILE.html') as string });
    const refused = await dossierCommand().parseAsync(['H833_001300.594', '--out', 'x.pdf', '--browser', '/nowhere/chromium'], { from: 'user' }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'BROWSER_MISSING', detail: 'expected the program /nowhere/chromium, found none' });
  });

  it('is refused as PDF if the browser writes no PDF file', async () => {
    const out = join(folder, 'none.pdf');
    expect(await printPdf('/bin/false', await pageIn('en'), out).catch((error: unknown) => error)).toMatchObject({ code: 'PDF_NOT_WRITTEN', at: '/bin/false', detail: 'expected a PDF file, found none (exit code 1)' });
  });

  describe.skipIf(CHROMIUM === undefined)(CHROMIUM === undefined ? 'in a browser [not run, no Chromium: apt-get install chromium]' : 'in a browser', () => {
    it('is printed as PDF on A4 pages', async () => {
      const out = join(folder, 'dossier.pdf');
      await printPdf(CHROMIUM!, await pageIn('it'), out);
      const pdf = (await readFile(out)).toString('latin1');
      expect(pdf.slice(0, 5)).toBe('%PDF-');
      const pages = [...pdf.matchAll(/\/MediaBox \[0 0 (\d+)[\d.]* (\d+)[\d.]*\]/g)].map(([, width, height]) => [Number(width), Number(height)]);
      expect([pages.length > 1, pages.filter(([width, height]) => Math.abs(width! - 595) > 1 || Math.abs(height! - 842) > 1)]).toEqual([true, []]);
    });

    it('shows the map first and nothing wider than the screen, on a monitor, a phone and paper', async () => {
      const looked = await lookAt(await pageIn('it'), 'dossier-it', ['.lots', '.first .facts']);
      expect(looked.map(({ size, isWide, tops: [map] }) => [size, isWide, map! < 400])).toEqual([['1280x800', false, true], ['390x844', false, true], ['paper', false, true]]);
    });
  });
});
