/**
 * Tests the report of a region and the passport of a comune. Reports and passports must be correct and equal on both engines, and their pages need no other
 * files.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { html, htmlTable } from '../../api/report/html.ts';
import { comunePage, regionPage, type Passport } from '../../api/report/pages.ts';
import { readPassport as passportOf } from '../../cli/quality-report.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { findRegion } from '../../pipelines/contract/regions.ts';
import { openReader, type Reader } from '../../pipelines/db/reader.ts';
import type { MappaleError } from '../../pipelines/errors.ts';
import type { FindingCount } from '../../pipelines/operate/findings.ts';
import { readOutlines, readRegionReport, type RegionReport } from '../../pipelines/operate/region-report.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { CHROMIUM, lookAt } from '../harness/browser.ts';
import { describeEngines } from '../harness/database.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const MOLISE = findRegion(14)!;
const WHO = { who: 'somebody@somewhere', why: 'the publisher says <b>so</b>' };
const ONLY = ['ade_cadastre', 'anncsu_addresses', 'dpc_buildings', 'istat_comuni', 'istat_soppressi', 'istat_boundaries', 'ispra_flood', 'omi_quotations'];

/** Matches markup that would make a browser fetch, run or send something. */
const REACHING = /<(?:script|link|img|iframe|object|embed|form|base)\b|<[^>]*\s(?:src|on[a-z]+)=|@import|url\((?!#)/i;

/**
 * Returns the part of a report that is the same on both engines. Leaves out times, durations, sizes, digests, versions and release numbers. Rounds fractions
 * to the precision on which builds of PROJ agree.
 */
function lasting(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, each: unknown) => {
    if (/(^|_)(seconds|bytes|at|digest|sha256|version|release)$/.test(key)) return undefined;
    return typeof each === 'number' && !Number.isInteger(each) ? Number(each.toPrecision(3)) : each;
  }));
}

const seen = new Map<string, { report: RegionReport; passport: Passport; outlines: unknown }>();

describeEngines('a region that was published twice', (engine) => {
  let context: Context;
  let initial: RegionReport;
  let report: RegionReport;
  let passport: Passport;
  let page: string;
  let reader: Reader;
  const readPassport = (comune: string): Promise<Passport> => passportOf(reader, comune);

  beforeAll(async () => {
    const files = await syntheticFiles(400, 5, { comuni: 4, only: ONLY });
    try {
      const url = await migratedDatabase(engine);
      context = await contextOn(await engine.openDatabase(url));
      reader = await openReader(context.database, url, { connections: 1, statementTimeoutMs: 20_000 });
      const first = await refresh(context, loadOptions([files.folder], [MOLISE.code]));
      if (first.failures.length > 0) throw first.failures[0]!;
      initial = await readRegionReport(context, MOLISE);
      // The publisher issues the addresses again without coordinates, and the user accepts the change.
      const name = readdirSync(files.folder).find((each) => /^indirizzario.*\.zip$/.test(each))!;
      await rewriteZip(join(files.folder, name), (_name, content) => Buffer.from(content.toString('latin1').split('\n')
        .map((line, number) => (number === 0 ? line : line.split(';').map((cell, column) => ([15, 16, 18].includes(column) ? '' : cell)).join(';'))).join('\n'), 'latin1'));
      const second = await refresh(context, loadOptions([files.folder], [MOLISE.code], { accept: WHO }));
      if (second.failures.length > 0) throw second.failures[0]!;
      report = await readRegionReport(context, MOLISE);
      passport = await readPassport('Z001');
      const outlines = await readOutlines(context, MOLISE);
      page = regionPage(report, outlines);
      seen.set(engine.name, { report, passport, outlines });
    } finally {
      await files.remove();
    }
  });

  afterAll(() => reader?.close());

  it('has a report that names the publication, the previous publication, and the user who accepted the refused change', () => {
    const [now, before] = ['current', 'previous'].map((state) => report.publications.find((each) => each.unit === MOLISE.code && each.state === state));
    expect(before!.accepted).toBe(null);
    expect(now).toMatchObject({ reason: WHO.why, accepted: { who: WHO.who } });
    expect(now!.accepted!.figures.map(({ relation }) => relation)).toContain('core.access_point');
    for (const words of [`publication ${now!.publication} of`, `publication ${before!.publication} of`, WHO.who, 'the publisher says &lt;b&gt;so&lt;/b&gt;']) expect(page).toContain(words);
  });

  it('has a report that adds up the records of every release, and marks a release with a wrong sum', async () => {
    expect(report.releases.length).toBeGreaterThan(5);
    expect(report.releases.filter(({ holds }) => !holds)).toEqual([]);
    expect(report.releases.some(({ rejects, duplicates }) => rejects > 0 && duplicates > 0)).toBe(true);
    expect(page).not.toContain('does not hold');
    const [{ release, source }] = report.releases as [RegionReport['releases'][number]];
    const lie = (by: number): Promise<unknown> => context.database.query('update ledger.release set rejects = rejects + $2 where release_id = $1', [release, by]);
    await lie(1);
    try {
      const report = await readRegionReport(context, MOLISE);
      expect(report.releases.filter(({ holds }) => !holds)).toMatchObject([{ source }]);
      expect(regionPage(report, [])).toMatch(/does not hold: .* not /);
    } finally {
      await lie(-1);
    }
  });

  it('has a report with the number of rows and the coverage state of each section in each comune', async () => {
    const parcels = await context.database.query<{ belfiore: string; n: number }>('select belfiore, count(*)::int4 as n from core.parcel group by 1 order by 1');
    expect(parcels.length).toBe(4);
    expect(report.coverage.map(({ belfiore, sections }) => ({ belfiore, n: sections.find(({ section }) => section === 'basic')!.rows }))).toEqual(parcels);
    for (const { sections, parcels_asked: asked } of report.coverage) {
      expect(asked).toBeGreaterThan(4);
      expect([...new Set(sections.map(({ section }) => section))]).toEqual(SECTIONS.map(({ name }) => name));
      for (const { answers } of sections) expect(Object.values(answers).reduce((sum, n) => sum + n, 0)).toBe(asked);
    }
    const states = (section: string, map: string | null = null): string[] =>
      report.coverage.map(({ sections }) => sections.find((each) => each.section === section && each.map === map)!.state);
    // There are no files for these sections.
    for (const section of ['terrain', 'economics', 'nightlights', 'land_use']) expect([section, new Set(states(section))]).toEqual([section, new Set(['not_loaded'])]);
    expect(new Set(states('address'))).toEqual(new Set(['none']));
    expect(new Set(states('risk', 'pga'))).toEqual(new Set(['not_mapped']));
    expect(states('risk', 'flood').every((state) => ['mapped', 'none'].includes(state))).toBe(true);
    for (const words of ['not loaded', 'mapped, without any feature', 'class="not_loaded"', 'class="none"', `id="c-${parcels[0]!.belfiore}"`]) expect(page).toContain(words);
  });

  it('has a report with the metrics of the current and the previous publication', () => {
    const moved = report.distributions.filter(({ relation, field }) => relation === 'core.access_point' && field === 'geom');
    expect(moved.length).toBe(2);
    for (const { now, before } of moved) expect([now!.rows > 0, now!.values, before!.values > 0]).toEqual([true, 0, true]);
    expect(report.distributions.find(({ relation, field }) => relation === 'core.parcel' && field === 'area_m2')!.now!.medians.length).toBeGreaterThan(0);
  });

  it('has a report that begins with the map, the numbers and the changes, and ends with files and digests', () => {
    const parts = [...page.matchAll(/<section id="(\w+)">/g)].map(([, id]) => id);
    expect([parts[0], parts.at(-1)]).toEqual(['overview', 'published']);
    const [overview] = /<section id="overview">.*?<\/section>/s.exec(page)!;
    expect(overview).toMatch(/<svg class="map".*<use href="#c-Z001"\/>.*4 comuni/s);
    const addresses = report.tables.find(({ unit, relation }) => unit === MOLISE.code && relation === 'core.access_point')!;
    expect(overview).toContain(html`<td>addresses</td><td class="n">${addresses.rows.toLocaleString('en-US')}</td>`.text);
    expect(overview).toMatch(/Changes since the publication of .*<code>core\.access_point<\/code>/s);
    expect(overview).not.toContain(report.publications.find(({ unit, state }) => unit === MOLISE.code && state === 'current')!.digest);
    expect(/[0-9a-f]{16}/.exec(page.slice(0, page.indexOf('<section id="published">')))).toBe(null);
    expect(regionPage(initial, [])).toContain('This is the first publication');
  });

  it.skipIf(CHROMIUM === undefined)('has a report with map, numbers and changes on the first screen of a monitor and of a phone, without horizontal scrolling', async () => {
    const looked = await lookAt(page, 'report', ['#overview svg.map', '#overview td.n', '#overview .overview > div + div > :last-child']);
    const [monitor, telephone] = looked;
    expect(looked.filter(({ isWide }) => isWide)).toEqual([]);
    expect(monitor!.bottoms.filter((bottom) => bottom > 800)).toEqual([]);
    expect(telephone!.tops.filter((top) => top > 844)).toEqual([]);
  });

  it('has findings that compare the addresses with the earlier file, or that are unknown without an earlier file', async () => {
    const { addresses, compared_with: earlier, findings } = passport.address_register;
    const [loaded] = await context.database.query<{ n: number }>("select count(*)::int4 as n from core.access_point where belfiore = 'Z001'");
    expect([addresses, earlier]).toEqual([loaded!.n, expect.objectContaining({ file: expect.stringMatching(/^indirizzario/) as string })]);
    const counts = (found: readonly FindingCount[]): Record<string, number | null> => Object.fromEntries(found.map(({ kind, count }) => [kind, count]));
    // The addresses of the second file have no points. Lines that the first load rejected because of their points are therefore new addresses.
    const [added] = await context.database.query<{ n: number }>(
      `select count(*)::int4 as n from core.access_point where belfiore = 'Z001' and address_id not in (
         select progressivo_accesso from layer.accesso where release_id = (select min(release_id) from ledger.release where source_id = 'anncsu_addresses'))`,
    );
    expect(counts(findings)).toMatchObject({ outside: 0, same_point: 0, moved: 0, new: added!.n, missing: 0 });
    const before = initial.address_registers.find(({ belfiore }) => belfiore === 'Z001')!;
    expect([before.compared_with, counts(before.findings)]).toMatchObject([null, { moved: null, new: null, missing: null }]);
    expect(page).toContain('compared with');
    expect(regionPage(initial, [])).toContain('no earlier file');
    const same = report.address_registers.find(({ belfiore }) => belfiore === 'Z001')!;
    expect({ addresses: same.addresses, compared_with: same.compared_with, findings: same.findings }).toEqual(passport.address_register);
  });

  it('has a report whose headings name both limits of each distance outside the boundary', () => {
    const heads = [...page.matchAll(/outside by [^<]*/g)].map(([head]) => head);
    expect([...new Set(heads)]).toEqual(['outside by less than 50 m', 'outside by 50 m to less than 200 m', 'outside by 200 m to less than 1,000 m', 'outside by 1,000 m or more']);
  });

  it('has a report with rejects (file and line), checks, times, sizes and licences', async () => {
    const [kept] = await context.database.query<{ n: number }>(
      'select count(*)::int4 as n from ledger.reject where release_id = any ($1)', [report.releases.map(({ release }) => release)],
    );
    expect(report.rejects.reduce((sum, { records }) => sum + records, 0)).toBe(kept!.n);
    expect(report.rejects.flatMap(({ examples }) => examples).every(({ file, position, message }) => file !== '' && position >= 0 && message !== '')).toBe(true);
    // The second publication rebuilt no table that a check reads.
    expect([initial, report].map(({ checks }) => checks.all.some(({ asked }) => asked === true))).toEqual([true, false]);
    expect(report.checks.all.filter(({ asked }) => asked === null)).toEqual([]);
    expect(report.steps.map(({ step }) => step)).toEqual(expect.arrayContaining(['join', 'check', 'gate', 'publish']));
    expect(report.tables.filter(({ unit }) => unit === MOLISE.code).every(({ rows, bytes }) => (rows === 0 ? bytes !== null : bytes! > 0))).toBe(true);
    expect(report.tables.some(({ seconds }) => seconds !== null)).toBe(true);
    expect(report.licenses.map(({ source_id: id }) => id)).toEqual(expect.arrayContaining(['ade_cadastre', 'ispra_flood']));
    for (const { attribution } of report.licenses) expect(page).toContain(html`${attribution}`.text);
  });

  it('has pages of the report and of a passport without scripts or requests, which show the content of files as text', async () => {
    await context.database.query("update ledger.reject set message = message || '<img src=x onerror=\"alert(1)\">' where reject_id = (select min(reject_id) from ledger.reject)");
    await context.database.query("update ledger.file set name = name || '\"><script>alert(1)</script>' where file_id = (select min(file_id) from ledger.file)");
    const [report, of] = [await readRegionReport(context, MOLISE), await readPassport('Z001')];
    for (const text of [regionPage(report, await readOutlines(context, MOLISE)), comunePage(of)]) {
      expect(text).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
      expect(REACHING.exec(text)).toBe(null);
      expect(text).toContain('prefers-color-scheme:dark');
      expect(text).toContain('@media print');
    }
  });

  it('has a passport of each comune, found by code or name, with the comune\'s files and rejects', async () => {
    expect(passport.coverage.sections).toEqual(report.coverage.find(({ belfiore }) => belfiore === 'Z001')!.sections);
    expect(passport.files.filter(({ names_comune: named }) => named).map(({ source }) => source)).toEqual(expect.arrayContaining(['ade_cadastre', 'anncsu_addresses', 'istat_boundaries']));
    const parcels = passport.figures.find(({ table }) => table === 'core.parcel')!;
    const areas = await context.database.query<{ area: number; mine: boolean }>(
      "select p.area_m2 as area, p.belfiore = 'Z001' as mine from core.parcel p join core.comune c using (belfiore) where c.province_code = (select province_code from core.comune where belfiore = 'Z001') order by 1",
    );
    const mine = areas.filter((each) => each.mine);
    expect([parcels.rows, parcels.rows_province]).toEqual([mine.length, areas.length]);
    expect(parcels.fields['area_m2']).toMatchObject({ median: mine[Math.ceil(mine.length / 2) - 1]!.area, median_province: areas[Math.ceil(areas.length / 2) - 1]!.area });
    const refused = await context.database.query<{ code: string }>("select code from ledger.reject where position(convert_to('Z001', 'utf8') in raw) > 0");
    expect(refused.length).toBeGreaterThan(0);
    expect(passport.rejects.map(({ code }) => code)).toEqual(expect.arrayContaining(refused.map(({ code }) => code)));
    expect((await readPassport("castel dell'inventato")).municipality.code).toBe('Z001');
    expect((await readPassport(passport.istat_code!)).municipality.code).toBe('Z001');
    // The code of a merged comune leads to its successor. The code of a divided comune leads to no comune.
    expect((await readPassport('070196')).municipality).toMatchObject({ code: 'Z003', name: 'Borgo Finto' });
    for (const unknown of ['094192', 'H501', '999999', 'Atlantide']) expect((await readPassport(unknown).catch((error: MappaleError) => error) as MappaleError).code).toMatch(/^(COMUNE_UNKNOWN|NOT_PUBLISHED)$/);
  });

  it('has a passport whose tag changes if the earlier file of addresses is forgotten', async () => {
    const tags: string[] = [];
    const deleted = await context.database.session(async (session) => {
      const keepTag = async (): Promise<void> => {
        tags.push((await session.query<{ tag: string }>("select publication as tag from api.municipality_quality('Z001')"))[0]!.tag);
      };
      await session.query('begin');
      await keepTag();
      await keepTag();
      const files = await session.query<{ file: number }>(
        "update ledger.file set forgotten_at = now() where file_id in (select f.file_id from api.address_files($1, '{Z001}') f where not f.is_current) returning file_id as file", [MOLISE.code],
      );
      await keepTag();
      await session.query('rollback');
      return files;
    });
    expect([deleted.length, tags[1], tags[2] !== tags[0]]).toEqual([1, tags[0], true]);
  });
});

describe('the report', () => {
  it('is the same on both engines', ({ skip }) => {
    const [one, other] = [...seen.values()];
    if (one === undefined || other === undefined) return skip('one engine only');
    expect(lasting(one)).toEqual(lasting(other));
  });
});

describe('HTML', () => {
  it('escapes values in text and in attributes, and replaces characters that are invalid or change the direction of text', () => {
    const nasty = '<a href=\'x\'>&"\u0000';
    expect(html`<p title="${nasty}">${[nasty, 1, null, html`<b>${2}</b>`]}</p>`.text)
      .toBe('<p title="&lt;a href=&#39;x&#39;&gt;&amp;&quot;\ufffd">&lt;a href=&#39;x&#39;&gt;&amp;&quot;\ufffd1<b>2</b></p>');
    // Five characters are replaced: two that change the direction of text, a C1 control character, a non-character, and half of a surrogate pair. A complete
    // surrogate pair is kept.
    expect(html`${'a\u202eb\u2066c\u0085d\uffffe\ud800f😀\n'}`.text).toBe('a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf😀\n');
    expect(htmlTable('of <it>', ['<a>'], [['<b>'], [1234]]).text).not.toMatch(/<(it|a|b)>/);
  });
});
