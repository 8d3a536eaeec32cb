/**
 * Tests the region with provincial land registers. Parcels are found in either language, one comune catastale is replaced, and the result equals the result of
 * a single load.
 */
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { rollback } from '../../pipelines/build/publish.ts';
import { publishedTables } from '../../pipelines/ledger/published.ts';
import { explain } from '../../pipelines/operate/explain.ts';
import { refresh, type RefreshReport } from '../../pipelines/run/refresh.ts';
import { SILENT, type Log } from '../../pipelines/log.ts';
import type { SyntheticComuneCatastale, SyntheticParcel } from '../../pipelines/synthetic/region.ts';
import { serviceOn, violationsOf, type Service } from '../api/harness.ts';
import { recount, currentContent } from '../harness/published.ts';
import { describeDatabase } from '../harness/database.ts';
import { freshContext, migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, syntheticFiles, loadOptions } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';
import { openRun } from '../harness/run.ts';

const TRENTINO = 4;
const SOURCES = ['trento_cadastre', 'bolzano_cadastre', 'istat_comuni', 'istat_soppressi', 'anncsu_addresses', 'dpc_seismic'];

describeDatabase('a region of land registers', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let report: RefreshReport;
  let service: Service;
  let key: string;
  const lines: string[] = [];
  const log: Log = { ...SILENT, debug: (message) => void lines.push(message) };

  const load = (): Promise<RefreshReport> => refresh(context, loadOptions([files.folder], [TRENTINO]));
  const ask = async (path: string): Promise<Record<string, unknown>> => {
    const answer = await service.ask(path, { key });
    expect([answer.status, violationsOf(path, answer)], `${path} ${answer.text}`).toEqual([200, []]);
    return answer.body!;
  };
  const labels = async (query: string): Promise<unknown[]> => ((await ask(`/parcels/search?${query}`))['data'] as { cadastral_reference: string }[]).map((parcel) => parcel.cadastral_reference);
  const fids = async (): Promise<Map<string, number>> =>
    new Map((await context.database.query<{ reference: string; fid: number }>('select reference, fid from core.parcel')).map(({ reference, fid }) => [reference, fid]));
  /** Returns the records of all parcels, without `meta` and with the fids replaced, sorted by reference. */
  const records = async (of: Context): Promise<unknown[]> =>
    (await of.database.query<{ record: string }>("select replace((api.parcel(p.fid, array['basic', 'risk', 'address'])::jsonb - 'meta')::text, p.fid::text, 'fid') as record from core.parcel p order by p.reference collate \"C\"")).map(({ record }) => record);

  const inCatastale = (of: SyntheticComuneCatastale): SyntheticParcel[] =>
    [...files.region.sheets(of.comune)].filter(({ comuneCatastale }) => comuneCatastale === of).flatMap((sheet) => [...files.region.parcelsOf(sheet)]);
  const registers = (province: string): SyntheticComuneCatastale[] => files.region.comuniCatastali.filter(({ prefix }) => prefix.startsWith(`IT.${province}.`));

  beforeAll(async () => {
    files = await syntheticFiles(900, 7, { only: SOURCES, comuni: 4, code: TRENTINO });
    const url = await migratedDatabase(engine);
    context = { ...(await contextOn(await engine.openDatabase(url))), log };
    report = await load();
    service = await serviceOn(context.database, url);
    key = await service.token();
  });
  afterAll(async () => {
    await service?.close();
    await files.remove();
  });

  it('has the parcels of both registers, with consecutive fids in one range per province', async () => {
    expect(report.failures).toEqual([]);
    expect((await fids()).size).toBe(files.region.parcelCount);
    const halves = await context.database.query('select left(reference, 6) as register, min(fid) as first, max(fid) - min(fid) + 1 as span, count(*)::int4 as parcels from core.parcel group by 1 order by 1');
    expect(halves.map(({ register, first }) => [register, first])).toEqual([['IT.BZ.', 450_000_000], ['IT.TN.', 400_000_000]]);
    for (const { span, parcels } of halves) expect(span).toBe(parcels);
    expect(await context.database.query('select distinct kind, sheet from core.parcel')).toEqual([{ kind: 'land', sheet: null }]);
  });

  it('finds the streets of a comune by its name in either language', async () => {
    const { comune } = registers('BZ')[0]!;
    const [street] = await context.database.query<{ name: string }>('select name from core.street where belfiore = $1 and located > 0 order by street_id limit 1', [comune.belfiore]);
    for (const name of [comune.italianName, comune.otherName!]) {
      const found = (await ask(`/geocode/search?q=${encodeURIComponent(street!.name)}&city=${encodeURIComponent(name)}&limit=3`))['data'] as { municipality_code: string }[];
      expect(found.length, name).toBeGreaterThan(0);
      expect(new Set(found.map((address) => address.municipality_code)), name).toEqual(new Set([comune.belfiore]));
    }
  });

  it('distinguishes land and building parcels with the same number, in every comune catastale of the comune', async () => {
    const [first] = files.region.comuni;
    const parcels = [...files.region.parcels(first)];
    const building = parcels.find(({ label }) => label.startsWith('.') && parcels.some((other) => other.label === label.slice(1)))!;
    const of = (label: string): string[] => parcels.filter((parcel) => parcel.label === label).map(({ reference }) => reference).sort();
    for (const name of [first.italianName, first.otherName!, first.belfiore]) {
      expect(await labels(`comune=${encodeURIComponent(name)}&label=${building.label}`), name).toEqual(of(building.label));
      expect(await labels(`comune=${encodeURIComponent(name)}&label=${building.label.slice(1)}`), name).toEqual(of(building.label.slice(1)));
    }
    const { lat, lng } = ((await ask(`/parcels/search?comune=${first.belfiore}&label=${building.label}`))['data'] as { centroid: { lat: number; lng: number } }[])[0]!.centroid;
    const [located] = (await ask(`/parcels/locate?lat=${lat}&lng=${lng}`))['data'] as { fid: number; municipality: { name: string } }[];
    expect(located!.municipality.name).toBe(first.italianName);
    const { cadastral, kind } = (await ask(`/parcels/${located!.fid}?include=basic`))['basic'] as { cadastral: Record<string, unknown>; kind: string };
    const register = building.sheet.comuneCatastale!;
    expect([kind, cadastral]).toEqual(['land', {
      comune_catastale: { code: register.code, name: register.name }, sheet: null, section: null, attachment: null, development: null, kind: 'building', comune_code: first.belfiore, postal_code: null,
    }]);
    expect(await labels(`comune=${first.belfiore}&foglio=1`)).toEqual([]);
  });

  it('finds parcels by a comune catastale whose name no comune has', async () => {
    const second = registers('TN').find(({ name, comune }) => name !== comune.italianName.toUpperCase())!;
    const label = inCatastale(second)[0]!.label;
    expect(await labels(`comune=${encodeURIComponent(second.name)}&label=${label}`)).toEqual([`${second.prefix}.${label}`]);
  });

  it('explains a parcel by its file, its comune catastale and the list of comuni', async () => {
    const [[reference, fid]] = [...await fids()].filter(([each]) => each.startsWith('IT.TN.')) as [[string, number]];
    const { evidence } = await explain(context, fid, 'basic');
    expect(evidence.map(({ field, source }) => [field, source])).toEqual(expect.arrayContaining([['parcel', 'trento_cadastre'], ['cadastral.comune_catastale', 'trento_cadastre'], ['municipality', 'istat_comuni']]));
    expect(evidence.find(({ field }) => field === 'parcel')).toMatchObject({ value: reference, member: expect.stringMatching(/_vl_parcel_poly\.shp$/) as unknown });
  });

  it('rebuilds only the parcels of a reissued comune catastale, keeps their fids, and gives each new parcel number a new fid', async () => {
    const register = registers('TN')[1]!;
    const [old] = inCatastale(register).filter(({ polygons, label, index }) => polygons.length === 1 && !label.startsWith('.') && index % 6 !== 0);
    const before = await fids();
    const stood = await records(context);
    const name = (await readdir(files.folder)).find((each) => each.endsWith(`CC${register.code}.zip`))!;
    const path = join(files.folder, name.replace('20260101', '20260701'));
    await copyFile(join(files.folder, name), path);
    let changed = 0;
    await rewriteZip(path, (entry, content) => {
      if (!entry.endsWith('_vl_parcel_poly.dbf')) return content;
      const at = content.indexOf(Buffer.from(`P               ${old!.label.padEnd(14)}`, 'latin1'));
      content.write('9001'.padEnd(14), at + 16, 'latin1');
      changed += 1;
      return content;
    });
    expect(changed).toBe(1);
    lines.length = 0;
    const second = await load();
    expect(second.failures).toEqual([]);
    expect(second.loaded.map(({ files: [only] }) => only)).toEqual([path.slice(path.lastIndexOf('/') + 1)]);
    expect(lines.filter((line) => /core\.parcel: /.test(line))).toEqual([expect.stringContaining('only what changed')]);
    expect(lines.filter((line) => /core\.comune_catastale: nothing changed/.test(line))).toHaveLength(1);

    const after = await fids();
    const fresh = `${register.prefix}.9001`;
    expect(after.get(fresh)).toBe(Math.max(...[...before].filter(([reference]) => reference.startsWith('IT.TN.')).map(([, fid]) => fid)) + 1);
    expect(after.has(old!.reference)).toBe(false);
    for (const [reference, fid] of after) if (reference !== fresh) expect(fid).toBe(before.get(reference));
    expect((await service.ask(`/parcels/${before.get(old!.reference)}`, { key })).status).toBe(410);

    // Compares the result with the result of a single load.
    const found = await currentContent(context.database);
    expect(await recount(context.database)).toEqual(found);
    const whole = await freshContext(engine);
    expect((await refresh(whole, loadOptions([files.folder], [TRENTINO]))).failures).toEqual([]);
    expect(await records(context)).toEqual(await records(whole));

    await rollback(context.database, TRENTINO, await openRun(context.database));
    expect(await records(context)).toEqual(stood);
    await rollback(context.database, TRENTINO, await openRun(context.database));
    expect(await currentContent(context.database)).toEqual(found);
  });

  it('is not published without the list of comuni, and the error names the comuni catastali', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'mappale-trento-'));
    try {
      const name = (await readdir(files.folder)).find((each) => each.endsWith('.zip') && each.startsWith('IDR'))!;
      await copyFile(join(files.folder, name), join(folder, name));
      const alone = await freshContext(engine);
      const { failures } = await refresh(alone, loadOptions([folder], [TRENTINO]));
      expect(failures.map((failure) => failure.report()).join('\n')).toMatch(/comune_catastale_without_comune: .*IT\.TN\.001/);
      expect(await publishedTables(alone.database, TRENTINO)).toEqual(new Map());
      expect(await alone.database.query('select fid from core.parcel limit 1')).toEqual([]);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
