/** Tests a comune that moved to another region or was merged, while the cadastre still has its former region or code. */
import { copyFile, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { regionOfFid } from '../../pipelines/contract/regions.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { hasIncomes } from '../../pipelines/synthetic/incomes.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import type { SyntheticComune, SyntheticParcel } from '../../pipelines/synthetic/region.ts';
import { loadSynthetic } from '../../pipelines/synthetic/synthetic.ts';
import { cadastralName } from '../../sources/ade_cadastre/synthetic.ts';
import { askEach, serviceOn, type Service } from '../api/harness.ts';
import { describeDatabase } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

const [FORMER, CURRENT] = [14, 15];
/** Sources that state a comune, by code or by name. */
const BY_COMUNE = ['dpc_seismic', 'mef_income', 'omi_quotations', 'mim_schools', 'salute_pharmacies', 'mic_places'] as const;
const OTHERS = ['ade_cadastre', 'anncsu_addresses', 'dpc_buildings', 'istat_boundaries', 'istat_comuni', 'istat_soppressi', 'postal_codes'];

type Json = Record<string, unknown>;

/** Rewrites the row of a comune in the ISTAT list, as if the comune had moved to Campania on 1 January 2026. */
function moved(list: string, { belfiore, istatCode }: SyntheticComune): string {
  return list.split('\r\n').map((line) => {
    const cells = line.split(';');
    if (cells[20] !== belfiore) return line;
    const now = { 0: '15', 1: '061', 2: '061', 3: ' 999 ', 4: '061999', 10: 'Campania', 11: 'Caserta', 14: 'CE', 15: '61999' };
    // Cell 16, counted from 0, is the first with an earlier numbering of provinces, and gets the code before the move.
    return Object.assign(cells, now, { 16: String(Number(istatCode)) }).join(';');
  }).join('\r\n');
}

describeDatabase('a comune that moved to another region', (engine) => {
  const { seed } = testEnvironment();
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let service: Service;
  let key: string;
  let comune: SyntheticComune;
  let parcels: SyntheticParcel[];
  const path = (name: string): string => join(files.folder, name);

  const load = async (...regions: number[]): Promise<void> => {
    const report = await refresh(context, loadOptions([files.folder], regions, { accept: { who: 'a test', why: 'a comune moved' } }));
    expect(report.failures).toEqual([]);
  };
  const records = async (): Promise<Map<string, Json>> => {
    const rows = await context.database.query<{ reference: string; fid: number }>('select reference, fid from core.parcel where belfiore = $1', [comune.belfiore]);
    const found = new Map<string, Json>();
    for (const { reference, fid } of rows) found.set(reference, (await service.ask(`/parcels/${fid}`, { key })).body as Json);
    return found;
  };
  const regions = async (): Promise<number[]> => {
    const rows = await context.database.query<{ fid: number }>('select fid from core.parcel where belfiore = $1', [comune.belfiore]);
    return [...new Set(rows.map(({ fid }) => regionOfFid(fid)))];
  };

  beforeAll(async () => {
    files = await syntheticFiles(300, 5, { comuni: 6, only: [...BY_COMUNE, ...OTHERS] });
    const { region } = files;
    // Some synthetic comuni have no incomes, quotations or schools. The test chooses a comune with all three, and with another comune in its province.
    const [omi, schools] = await Promise.all((['omi_quotations', 'mim_schools'] as const).map(async (id) => (await loadSynthetic(id)).truth!(region)));
    const values = [...region.parcels()].filter(({ kind }) => kind === 'land').map((parcel) => ({
      of: parcel.comune, quotations: (omi!(parcel) as Record<string, unknown[]>)['valuation']!, points: (schools!(parcel) as Record<string, unknown[]>)['poi']!,
    }));
    const has = (each: SyntheticComune, what: 'quotations' | 'points'): boolean => values.some((value) => value.of === each && value[what].length > 0);
    comune = randomOf('moved comune', seed).pick(region.comuni.filter((each) => (
      hasIncomes(each) && has(each, 'quotations') && has(each, 'points') && each.index > 0
      && region.comuni.some((other) => other !== each && other.province === each.province)
    )));
    parcels = [...region.parcels()].filter((parcel) => parcel.comune === comune && parcel.kind === 'land');
    const list = path('Elenco-comuni-italiani.csv');
    await writeFile(list, Buffer.from(moved((await readFile(list)).toString('latin1'), comune), 'latin1'));
    const url = await migratedDatabase(engine);
    context = await contextOn(await engine.openDatabase(url));
    service = await serviceOn(context.database, url);
    key = await service.token();
    await load(FORMER);
  });
  afterAll(async () => {
    await service?.close();
    await files?.remove();
  });

  it(`keeps the incomes, quotations, seismic zone and points of its parcels (seed ${seed})`, async () => {
    const truths = await Promise.all(BY_COMUNE.map(async (id) => (await loadSynthetic(id)).truth!(files.region)));
    const found = await records();
    expect(parcels.length).toBeGreaterThan(20);
    const ids = (list: unknown): string[] => (list as { id: string }[]).map(({ id }) => id).sort();
    // Ignores the values of the previous half-year, because the synthetic files lack that half-year.
    const quoted = (list: unknown): Json[] => (list as Json[]).map(({ previous_semester: _, ...quotation }) => quotation);
    const seen = { income: 0, quotations: 0, points: 0 };
    for (const parcel of parcels) {
      const expected = truths.map((truth) => truth(parcel) as Record<string, Json>);
      const [seismic, income, omi, schools, pharmacies, places] = expected as [Record<string, Json>, ...Record<string, Json>[]];
      const record = found.get(parcel.reference) as Record<string, Json>;
      expect(record['risk'], parcel.reference).toMatchObject(seismic['risk']!);
      const { average_income: average, tax_year: year } = income!['economics'] ?? {};
      expect([record['economics']?.['average_income'], record['economics']?.['tax_year']], parcel.reference).toEqual([average, year]);
      expect(quoted(record['valuation']), parcel.reference).toEqual(quoted(omi!['valuation']));
      expect(ids(record['poi']), parcel.reference).toEqual([...ids(schools!['poi']), ...ids(pharmacies!['poi'])].sort());
      expect(ids(record['cultural_heritage']), parcel.reference).toEqual(ids(places!['cultural_heritage']));
      expect((record['meta']!['coverage'] as Json)['economics'], parcel.reference).toBe('mapped');
      seen.income += average === undefined ? 0 : 1;
      seen.quotations += (omi!['valuation'] as unknown as unknown[]).length;
      seen.points += (record['poi'] as unknown as unknown[]).length;
    }
    for (const [what, count] of Object.entries(seen)) expect(count, what).toBeGreaterThan(0);
  });

  it('is found if a search names its province, its former province or its region, but not if a search names an unrelated region', async () => {
    const [address] = await context.database.query<{ text: string }>(
      `select s.name || ' ' || a.number as text from core.access_point a join core.street s on s.street_id = a.street_id
       where a.belfiore = $1 and a.number is not null and a.exponent is null and a.colour is null order by a.address_id limit 1`, [comune.belfiore],
    );
    const search = async (place: string): Promise<unknown[]> => {
      const { body } = await service.ask(`/geocode/search?q=${encodeURIComponent(`${address!.text}, ${comune.italianName}, ${place}`)}`, { key });
      return [...new Set((body!['data'] as { municipality_code: string; region: string }[]).map((each) => `${each.municipality_code} ${each.region}`))];
    };
    for (const place of ['CE', 'Caserta', 'Campania', comune.province.sigla, comune.province.name]) expect(await search(place), place).toEqual([`${comune.belfiore} Campania`]);
    expect(await search('Sardegna')).toEqual([]);
  });

  it('is only in its current region after the cadastre file of that region contains the comune', async () => {
    expect(await regions()).toEqual([FORMER]);
    await copyFile(path('MOLISE.zip'), path('CAMPANIA.zip'));
    await rewriteZip(path('CAMPANIA.zip'), (name, content) => {
      const [, code] = /\/(Z\d{3})_[^/]*\.zip$/.exec(name) ?? [];
      return code === undefined || code === comune.belfiore ? content : null;
    });
    const before = await records();
    await load(FORMER, CURRENT);
    expect(await regions()).toEqual([CURRENT]);
    const after = await records();
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
    for (const { reference } of parcels.slice(0, 10)) {
      for (const section of ['economics', 'valuation']) expect(after.get(reference)![section], `${reference} ${section}`).toEqual(before.get(reference)![section]);
    }
  });
});

/** Removes the comune from the ISTAT list, and adds its merger into another comune to the list of suppressed comuni. */
async function merge(folder: string, old: SyntheticComune, into: SyntheticComune): Promise<void> {
  const [list, suppressed] = [join(folder, 'Elenco-comuni-italiani.csv'), join(folder, 'comuni-soppressi.csv')];
  const listed = (await readFile(list)).toString('latin1').split('\r\n').filter((line) => line.split(';')[20] !== old.belfiore);
  await writeFile(list, Buffer.from(listed.join('\r\n'), 'latin1'));
  const { sigla, code } = old.province;
  const event = `2025;${sigla};${code};${old.istatCode};${old.italianName};;01/01/2025;${into.istatCode};${into.italianName};${into.istatCode.slice(0, 3)};${into.province.sigla};;;;;\n`;
  await writeFile(suppressed, (await readFile(suppressed, 'utf8')) + event);
}

/** Removes the suppressed comune from the income files of all tax years. MEF publishes incomes under the comune that now has the territory. */
async function withoutIncomes(folder: string, { belfiore }: SyntheticComune): Promise<void> {
  for (const name of (await readdir(folder)).filter((file) => file.startsWith('Redditi') && file.endsWith('.zip'))) {
    await rewriteZip(join(folder, name), (_path, content) => (
      Buffer.from(content.toString('latin1').split('\r\n').filter((line) => !line.split(';').slice(0, 3).includes(belfiore)).join('\r\n'), 'latin1')
    ));
  }
}

describeDatabase('a merged comune whose code the cadastre still uses', (engine) => {
  const { seed } = testEnvironment();
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let service: Service;
  let key: string;
  let old: SyntheticComune;
  let into: SyntheticComune;
  let parcels: SyntheticParcel[];

  beforeAll(async () => {
    files = await syntheticFiles(300, 5, { comuni: 6, only: [...BY_COMUNE, ...OTHERS] });
    const { region } = files;
    const merged = region.comuni.filter((each) => each.index > 2);
    old = randomOf('merged comune', seed).pick(merged);
    into = region.comuni.find((each) => each !== old && hasIncomes(each) && each.index === 0)!;
    parcels = [...region.parcels()].filter((parcel) => parcel.comune === old && parcel.kind === 'land');
    await merge(files.folder, old, into);
    await withoutIncomes(files.folder, old);
    const url = await migratedDatabase(engine);
    const context = await contextOn(await engine.openDatabase(url));
    const report = await refresh(context, loadOptions([files.folder], [FORMER]));
    expect(report.failures).toEqual([]);
    service = await serviceOn(context.database, url);
    key = await service.token();
  });
  afterAll(async () => {
    await service?.close();
    await files?.remove();
  });

  const recordsOf = async (belfiore: string): Promise<Map<string, Record<string, Json>>> => {
    const rows = await service.database.query<{ reference: string; fid: number }>("select reference, fid from core.parcel where belfiore = $1 and kind = 'land'", [belfiore]);
    const answers = await askEach(service, rows.map(({ fid }) => `/parcels/${fid}`), key);
    return new Map(rows.map(({ reference }, index) => [reference, answers[index]!.body as Record<string, Json>]));
  };

  it(`keeps every parcel with its quotations, and has the stricter of the seismic zones of the two comuni, and the incomes and postal codes of the comune that absorbed it (seed ${seed})`, async () => {
    const [found, others] = [await recordsOf(old.belfiore), [...(await recordsOf(into.belfiore)).values()]];
    expect([...found.keys()].sort()).toEqual(parcels.map(({ reference }) => reference).sort());
    const zones = await service.database.query<{ zone: number }>('select min(zone) as zone from layer.seismic_zone where istat_code in ($1, $2)', [old.istatCode, into.istatCode]);
    const incomes = new Set(others.map((record) => record['economics']?.['average_income']));
    const codes = new Set(others.map((record) => (record['basic']!['cadastral'] as Json)['postal_code']));
    const omi = (await loadSynthetic('omi_quotations')).truth!(files.region);
    const quoted = (list: unknown): Json[] => (list as Json[]).map(({ previous_semester: _, ...quotation }) => quotation);
    for (const parcel of parcels) {
      const record = found.get(parcel.reference)!;
      const { code, name } = record['municipality'] as { code: string; name: string };
      // An unlisted comune has the name from the cadastre's files, which write accents as apostrophes.
      expect([code, cadastralName(name)], parcel.reference).toEqual([old.belfiore, cadastralName(old.italianName)]);
      expect(record['risk']!['seismic_zone'], parcel.reference).toBe(zones[0]!.zone);
      expect(incomes, parcel.reference).toContain(record['economics']!['average_income']);
      expect(codes, parcel.reference).toContain((record['basic']!['cadastral'] as Json)['postal_code']);
      expect(quoted(record['valuation']), parcel.reference).toEqual(quoted((omi(parcel) as Record<string, unknown[]>)['valuation']));
      const cited = (record['meta']!['licenses'] as { section: string; source: string }[]).map(({ source }) => source).join();
      expect(cited, parcel.reference).toContain('seismic zones of comuni');
    }
  });

  it('is found by its former name in searches of addresses and parcels', async () => {
    const [address] = await service.database.query<{ text: string }>(
      `select s.name || ' ' || a.number as text from core.access_point a join core.street s on s.street_id = a.street_id
       where a.belfiore = $1 and a.number is not null and a.exponent is null and a.colour is null order by a.address_id limit 1`, [old.belfiore],
    );
    const { body } = await service.ask(`/geocode/search?q=${encodeURIComponent(`${address!.text}, ${old.italianName}`)}`, { key });
    expect((body!['data'] as { municipality_code: string }[]).map((each) => each.municipality_code)).toContain(old.belfiore);
    const { body: sheet } = await service.ask(`/parcels/search?comune=${encodeURIComponent(old.italianName)}&label=${encodeURIComponent(parcels[0]!.label)}`, { key });
    expect((sheet!['data'] as { cadastral_reference: string }[]).map((each) => each.cadastral_reference)).toContain(parcels[0]!.reference);
  });
});
