/** Tests that a parcel keeps its fid when the code of its comune changes. If a parcel cannot keep its fid, the retired fid names its successor. */
import { writeFileSync } from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import { rollback } from '../../pipelines/build/publish.ts';
import { firstFid, regionOfFid } from '../../pipelines/contract/regions.ts';
import { SILENT } from '../../pipelines/log.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { serviceOn, violationsOf, type Answered, type Service } from '../api/harness.ts';
import { recount, currentContent } from '../harness/published.ts';
import { describeDatabase } from '../harness/database.ts';
import { daysGoBy, onOneDay } from '../harness/days.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, syntheticFiles, loadOptions } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';
import { openRun } from '../harness/run.ts';

const MOLISE = 14;
const ABRUZZO = 13;

/** Gives a comune a different code in the names and the content of its files, and applies `change` to each feature. */
function recode(path: string, was: string, now: string, change: (member: string, index: number) => string = (member) => member): Promise<void> {
  return rewriteZip(path, (name, content) => {
    if (name.endsWith('.zip') || !name.includes(`/${was}_`)) return content;
    return Buffer.from(members(content.toString('utf8'), change).replaceAll(was, now));
  }, { renamed: (name) => name.replace(was, now) });
}

function members(text: string, change: (member: string, index: number) => string): string {
  let index = -1;
  return text.replace(/<wfs:member>[\s\S]*?<\/wfs:member>\s*/g, (member) => change(member, (index += 1)));
}

/** Applies `change` to each parcel of one comune. */
function edit(path: string, comune: string, change: (member: string, index: number) => string): Promise<void> {
  return rewriteZip(path, (name, content) => (name.includes(`/${comune}_`) && name.endsWith('_ple.gml') ? Buffer.from(members(content.toString('utf8'), change)) : content));
}

function keepComuni(path: string, keep: (comune: string) => boolean): Promise<void> {
  return rewriteZip(path, (name, content) => {
    const [, comune] = /\/([YZ]\d{3})_[^/]*\.zip$/.exec(name) ?? [];
    return comune === undefined || keep(comune) ? content : null;
  });
}

/** Returns a parcel whose ring starts at its second corner. */
function turned(member: string): string {
  return member.replace(/(<gml:posList[^>]*>)([^<]*)</g, (_all, tag: string, list: string) => {
    const values = list.trim().split(/\s+/);
    return `${tag}${[...values.slice(2), ...values.slice(2, 4)].join(' ')} <`;
  });
}

/** Returns a parcel with the same drawing and a different number. */
function twin(member: string): string {
  const reference = /NATIONALCADASTRALREFERENCE>([^<]+)</.exec(member)![1]!;
  const label = reference.slice(reference.indexOf('.') + 1);
  return member.replaceAll(reference, reference.replace(`.${label}`, '.9001')).replace(`LABEL>${label}<`, 'LABEL>9001<');
}

describeDatabase('a parcel whose comune changes code or region', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let service: Service;
  let key: string;
  let lines: string[] = [];
  let aside: string;
  const path = (name: string): string => join(files.folder, name);

  const run = async (...regions: number[]): Promise<void> => {
    lines = [];
    const report = await refresh(context, loadOptions([files.folder], regions, { accept: { who: 'a test', why: 'the test accepts every change' } }));
    expect(report.failures).toEqual([]);
  };
  /** Maps references to fids, for the current parcels of a comune. */
  const fids = async (comune: string): Promise<Map<string, number>> => {
    const rows = await context.database.query<{ reference: string; fid: number }>('select reference, fid from core.parcel where belfiore = $1 order by reference collate "C"', [comune]);
    return new Map(rows.map(({ reference, fid }) => [reference, fid]));
  };
  const under = (found: Map<string, number>, comune: string): Map<string, number> =>
    new Map([...found].map(([reference, fid]) => [comune + reference.slice(4), fid]));
  const ask = async (fid: number): Promise<Answered> => {
    const answered = await service.ask(`/parcels/${fid}?include=basic`, { key });
    expect(violationsOf('/parcels/1', answered)).toEqual([]);
    return answered;
  };
  const successor = async (fid: number): Promise<unknown> => {
    const { status, body, headers } = await ask(fid);
    expect([status, body?.['error']]).toEqual([410, 'GONE']);
    expect(headers['etag']).toBeUndefined();
    expect(headers['cache-control']).toBe('private, no-cache');
    return (body!['details'] as Record<string, unknown>)['successor_fid'];
  };
  /** The fids of two parcels with the same drawing, before and after the change of code. */
  let twins: { was: number[]; now: number[] };

  beforeAll(async () => {
    await onOneDay();
    files = await syntheticFiles(800, 3, { only: ['ade_cadastre'], comuni: 10 });
    aside = `${files.folder}-aside.zip`;
    const url = await migratedDatabase(engine);
    const database = await engine.openDatabase(url);
    context = { ...(await contextOn(database)), log: { ...SILENT, debug: (line) => void lines.push(line) } };
    service = await serviceOn(database, url);
    key = await service.token();
    await run(MOLISE);
  });
  /** Maps fids to the responses for these parcels, without the fields that differ between requests. */
  const answeredOf = async (fids: readonly number[], asOf = ''): Promise<Map<number, unknown>> => {
    const found = new Map<number, unknown>();
    // A new token, because the requests exceed the hourly limit.
    const fresh = await service.token();
    for (const fid of fids) {
      const { status, body } = await service.ask(`/parcels/${fid}?include=basic,risk${asOf}`, { key: fresh });
      const { meta, details, ...rest } = body as Record<string, Record<string, unknown>>;
      found.set(fid, { status, ...(status === 200 ? { ...rest, coverage: meta!['coverage'], licenses: meta!['licenses'] } : { error: body!['error'], successor: details!['successor_fid'] ?? null }) });
    }
    return found;
  };
  const watched = async (): Promise<number[]> => {
    const rows = await context.database.query<{ fid: number }>(
      `select fid from core.parcel_register where retired_on is not null or successor_fid is not null or taken_from is not null or hashint4(fid) % 50 = 0
       union select fid from history.parcel union select fid from history.retired order by 1`,
    );
    return rows.map(({ fid }) => fid).filter((_, index, all) => index % Math.ceil(all.length / 60) === 0);
  };
  /** The responses after each test. A day passes after each test. */
  const days: { readonly answers: Map<number, unknown>; readonly regions: ReadonlySet<number> }[] = [];
  afterEach(async () => {
    const regions = await context.database.query<{ region: number }>('select distinct unit_code as region from ledger.swap');
    const fids = [...new Set([...(days.at(-1)?.answers.keys() ?? []), ...twins?.was ?? [], ...twins?.now ?? [], ...(await watched())])];
    days.push({ answers: await answeredOf(fids), regions: new Set(regions.map(({ region }) => region)) });
    await daysGoBy(context.database, 1);
  });
  afterAll(async () => {
    await service.close();
    await rm(aside, { force: true });
    await files.remove();
  });

  it('keeps its fid within the region for any start corner of its ring, and only its comune is rebuilt', async () => {
    const before = await fids('Z002');
    const others = await fids('Z003');
    expect(before.size).toBeGreaterThan(50);
    await recode(path('MOLISE.zip'), 'Z002', 'Y002', (member, index) => (index === 4 ? turned(member) : member));
    await run(MOLISE);
    expect(lines.join('\n')).toContain('core.parcel: only what changed');
    expect(await fids('Y002')).toEqual(under(before, 'Y002'));
    expect(await fids('Z002')).toEqual(new Map());
    expect(await fids('Z003')).toEqual(others);
    const [[reference, fid]] = [...before] as [[string, number]];
    expect((await ask(fid)).body).toMatchObject({ fid, municipality: { code: 'Y002' }, basic: { cadastral_reference: `Y002${reference.slice(4)}` } });
    const [register] = await context.database.query<{ retired: number }>('select count(*) filter (where retired_on is not null) as retired from core.parcel_register');
    expect(register!.retired).toBe(0);
    expect(await recount(context.database)).toEqual(await currentContent(context.database));
  });

  it('keeps its fid in a complete rebuild', async () => {
    const before = await fids('Y002');
    await context.database.query("update ledger.publication_table set fingerprint = '', inputs = '{}'");
    await run(MOLISE);
    expect(lines.join('\n')).not.toContain('core.parcel: only what changed');
    expect(await fids('Y002')).toEqual(before);
  });

  it('keeps its fid if the code changes in a complete rebuild', async () => {
    const before = await fids('Y002');
    await recode(path('MOLISE.zip'), 'Y002', 'Y022');
    await context.database.query('update ledger.member set taken_from = null');
    await context.database.query("update ledger.publication_table set fingerprint = '', inputs = '{}'");
    await run(MOLISE);
    expect(lines.join('\n')).not.toContain('core.parcel: only what changed');
    expect(await fids('Y022')).toEqual(under(before, 'Y022'));
  });

  it('gets a new fid if another parcel has the same drawing, and the old fid has no successor', async () => {
    await edit(path('MOLISE.zip'), 'Z003', (member, index) => (index === 3 ? member + twin(member) : member));
    await run(MOLISE);
    const before = await fids('Z003');
    const [doubled] = [...before].find(([reference]) => reference.endsWith('.9001'))!;
    const alike = await context.database.query<{ reference: string; fid: number }>('select p.reference, p.fid from core.parcel p join core.parcel o on o.reference = $1 and st_equals(o.geom, p.geom) order by 1', [doubled]);
    expect(alike).toHaveLength(2);
    await recode(path('MOLISE.zip'), 'Z003', 'Y003');
    await run(MOLISE);
    const after = await fids('Y003');
    expect(after.size).toBe(before.size);
    twins = { was: alike.map(({ fid }) => fid), now: alike.map(({ reference }) => after.get(`Y003${reference.slice(4)}`)!) };
    for (const [reference, fid] of before) {
      if (twins.was.includes(fid)) expect(after.get(`Y003${reference.slice(4)}`)).toBeGreaterThan(Math.max(...before.values()));
      else expect(after.get(`Y003${reference.slice(4)}`)).toBe(fid);
    }
    for (const fid of twins.was) expect(await successor(fid)).toBeNull();
  });

  it('has its former code after a rollback, and its new code after a second rollback', async () => {
    await rollback(context.database, MOLISE, await openRun(context.database));
    for (const fid of twins.was) expect((await ask(fid)).body).toMatchObject({ fid, municipality: { code: 'Z003' } });
    for (const fid of twins.now) expect(await successor(fid)).toBeNull();
    await rollback(context.database, MOLISE, await openRun(context.database));
    for (const fid of twins.now) expect((await ask(fid)).body).toMatchObject({ fid, municipality: { code: 'Y003' } });
    for (const fid of twins.was) expect(await successor(fid)).toBeNull();
  });

  it('names the remaining parcel as successor if one of two parcels with the same drawing is removed', async () => {
    await edit(path('MOLISE.zip'), 'Y003', (member) => (member.includes('.9001<') ? '' : member));
    await run(MOLISE);
    const remaining = [...(await fids('Y003')).values()].filter((fid) => twins.now.includes(fid));
    expect(remaining).toHaveLength(1);
    for (const fid of [...twins.was, ...twins.now.filter((each) => each !== remaining[0])]) expect(await successor(fid)).toBe(remaining[0]);
  });

  it('gets a new fid in another region, and its old fid gets a successor, if the losing region is published first', async () => {
    const before = await fids('Z004');
    await copyFile(path('MOLISE.zip'), aside);
    await copyFile(aside, path('ABRUZZO.zip'));
    await keepComuni(path('ABRUZZO.zip'), (comune) => comune === 'Z004');
    await keepComuni(path('MOLISE.zip'), (comune) => comune !== 'Z004');
    await run(MOLISE);
    for (const fid of [...before.values()].slice(0, 3)) expect(await successor(fid)).toBeNull();
    await run(ABRUZZO);
    await expectMoved(before, await fids('Z004'), ABRUZZO);
  });

  it('gets a new fid, and its old fid gets a successor, if the gaining region is published first', async () => {
    const before = await fids('Z005');
    await copyFile(aside, path('ABRUZZO.zip'));
    await keepComuni(path('ABRUZZO.zip'), (comune) => comune === 'Z004' || comune === 'Z005');
    await keepComuni(path('MOLISE.zip'), (comune) => comune !== 'Z005');
    await run(ABRUZZO);
    await run(MOLISE);
    await expectMoved(before, await fids('Z005'), ABRUZZO);
  });

  it('has no successor if no parcel replaces it', async () => {
    const before = await fids('Y022');
    await edit(path('MOLISE.zip'), 'Y022', (member, index) => (index === 7 ? '' : member));
    await run(MOLISE);
    const after = new Set((await fids('Y022')).values());
    const gone = [...before.values()].filter((fid) => !after.has(fid));
    expect(gone).toHaveLength(1);
    expect(await successor(gone[0]!)).toBeNull();
    const never = await ask(firstFid(MOLISE + 1) - 1);
    expect([never.status, never.body!['error']]).toEqual([404, 'NOT_FOUND']);
  });

  it('keeps its fid under the new code if the parcel with the old code returns', async () => {
    const before = await fids('Y022');
    await copyFile(path('MOLISE.zip'), aside);
    await recode(aside, 'Y022', 'Z002');
    await rewriteZip(aside, (name, content) => {
      const [, comune] = /\/(Z002_[^/]*\.zip)$/.exec(name) ?? [];
      if (comune !== undefined) writeFileSync(path(comune), content);
      return content;
    });
    await run(MOLISE);
    expect(await fids('Y022')).toEqual(before);
    const again = await fids('Z002');
    expect(again.size).toBe(before.size);
    expect([...again.values()].filter((fid) => [...before.values()].includes(fid))).toEqual([]);
    expect(await recount(context.database)).toEqual(await currentContent(context.database));
  });

  it('has the fid and successor of the requested day in a response with `as_of`', async () => {
    const past = days.slice();
    const wrong: unknown[] = [];
    for (const [index, { answers, regions }] of past.entries()) {
      const [day] = await context.database.query<{ day: string }>("select ((now() at time zone 'Europe/Rome')::date - $1::int4)::text as day", [past.length - index]);
      // A region that was not yet published has no history, and its parcels did not exist.
      const fids = [...answers.keys()].filter((fid) => regions.has(regionOfFid(fid)));
      for (const [fid, now] of await answeredOf(fids, `&as_of=${day!.day}`)) {
        if (JSON.stringify(now) !== JSON.stringify(answers.get(fid))) wrong.push([index, fid, answers.get(fid), now]);
      }
    }
    expect(wrong).toEqual([]);
    const successors = new Set(past.flatMap(({ answers }) => [...answers.values()].map((each) => (each as { successor?: number | null }).successor ?? null)));
    expect(successors.size).toBeGreaterThan(2);
  });

  async function expectMoved(before: Map<string, number>, after: Map<string, number>, region: number): Promise<void> {
    expect(before.size).toBeGreaterThan(50);
    expect([...after.keys()]).toEqual([...before.keys()]);
    const retired = await context.database.query<{ reference: string; successor: number | null }>(
      'select reference, successor_fid as successor from core.parcel_register where region_code = $1 and fid = any ($2::int4[]) and retired_on is not null order by reference collate "C"',
      [MOLISE, [...before.values()]],
    );
    expect(retired).toEqual([...after].map(([reference, fid]) => ({ reference, successor: fid })));
    expect([...after.values()].every((fid) => regionOfFid(fid) === region)).toBe(true);
    const [reference, fid] = [...before][0]!;
    expect(await successor(fid)).toBe(after.get(reference));
  }
});
