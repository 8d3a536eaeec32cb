/** Tests that an old export becomes the new export if a consumer applies the changes of all later publications. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rollback, withdraw } from '../../pipelines/build/publish.ts';
import { firstFid } from '../../pipelines/contract/regions.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import { changesAfter, type ChangeLine, type ChangesFrom } from '../../pipelines/deliver/changes.ts';
import { columnsOf, rowsOf, type Ask } from '../../pipelines/deliver/columns.ts';
import { releaseHold } from '../../pipelines/ledger/hold.ts';
import { withRun } from '../../pipelines/ledger/runs.ts';
import { forget } from '../../pipelines/operate/forget.ts';
import { prune } from '../../pipelines/operate/prune.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { describeEngines } from '../harness/database.ts';
import { daysGoBy, onOneDay } from '../harness/days.ts';
import { testEnvironment } from '../harness/environment.ts';
import { FEW_SOURCES, raisePrices, REGION, seismicZones, smallRegion, type Region } from '../harness/faults/region.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions } from '../harness/region.ts';
import { rewriteZip } from '../harness/rewrite-zip.ts';

/** Days between two publications. */
const DAYS = 10;

/** Number of parcels. More parcels would only make each step longer. */
const PARCELS = 80;

/** Months of history that pruning keeps. */
const MONTHS = 6;

const ACCEPTED = { who: 'test', why: 'a test' };

const NAMES = columnsOf(SECTION_NAMES).map(({ name }) => name);

/** The content of an export, as values by column for each fid. */
type Exported = ReadonlyMap<number, Readonly<Record<string, unknown>>>;

/** Changes the text of a file whose name matches `named`. @throws Error if the text stays the same */
async function rewrite(folder: string, named: RegExp, change: (text: string) => string): Promise<void> {
  const name = (await readdir(folder)).find((file) => named.test(file))!;
  const text = await readFile(join(folder, name), 'latin1');
  const changed = change(text);
  if (changed === text) throw new Error(`${name} did not change`);
  await writeFile(join(folder, name), changed, 'latin1');
}

/** Renames every street VIA ROMA in the files of streets and addresses. House numbers stay unchanged. */
async function renameStreets(folder: string, suffix: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((file) => /^(INDIR|STRAD)/i.test(file))) {
    await rewriteZip(join(folder, name), (_path, content) => (
      Buffer.from(content.toString('latin1').replaceAll(';VIA ROMA;', `;VIA ROMA ${suffix};`), 'latin1')
    ));
  }
}

const renameSchools = (folder: string, suffix: string): Promise<void> => rewrite(folder, /^SCUANAGRAFESTAT2025/, (text) => text.replaceAll('LUIGI NESSUNO ', `LUIGI NESSUNO ${suffix} `));

/** Renames one comune in the list of comuni, which is published for all of Italy. */
const renameComune = (folder: string, suffix: string): Promise<void> => rewrite(folder, /^Elenco-comuni/, (text) => {
  const lines = text.split('\r\n');
  const cells = lines[2]!.split(';');
  for (const column of [5, 6]) cells[column] = `${cells[column]} ${suffix}`;
  lines[2] = cells.join(';');
  return lines.join('\r\n');
});

/** Returns the old export with the changes applied. An unknown parcel may be removed and a known parcel added, because a consumer may apply a day twice. */
function applied(old: Exported, lines: readonly ChangeLine[]): Exported {
  const rows = new Map(old);
  for (const { op, fid, columns } of lines) {
    if (op === 'remove') rows.delete(fid);
    else rows.set(fid, op === 'add' ? columns : { ...rows.get(fid), ...columns });
  }
  return rows;
}

describeEngines('changes', (engine) => {
  const { seed, sequences } = testEnvironment();
  const random = randomOf('changes', engine.name, seed);
  const happenings = Math.min(30, (engine.name === 'postgres' ? 15 : 8) * sequences[engine.name]);
  let region: Region;
  let context: Context;
  let database: Database;
  let ask: Ask;
  const said: string[] = [];
  /** All kept changes at the last comparison of exports. */
  let listed: readonly ChangeLine[] = [];
  const exports: { readonly content: Exported; readonly publication: number }[] = [];

  const asRun = <T>(command: string, work: (run: number) => Promise<T>): Promise<T> =>
    withRun(database, { command, arguments: {}, version: 'test', host: 'test' }, ({ runId }) => work(runId));

  async function publish(version: number, change?: (folder: string) => Promise<void>): Promise<void> {
    const folder = await region.version(version);
    await change?.(folder);
    const { failures } = await refresh(context, loadOptions([folder], [REGION], { accept: ACCEPTED }));
    expect(failures).toEqual([]);
  }

  /** Returns the content of an export of the current publication. */
  async function content(): Promise<Exported> {
    const drawings = await database.query<{ fid: number; geometry: string }>(
      'select fid, st_asgeojson(st_forcepolygonccw(geom), 15) as geometry from core.parcel where fid >= $1 and fid < $2', [firstFid(REGION), firstFid(REGION + 1)],
    );
    const { cells } = await rowsOf(ask, drawings.map(({ fid }) => fid), SECTION_NAMES);
    return new Map(drawings.map(({ fid, geometry }) => [fid, {
      ...Object.fromEntries(NAMES.map((name, index) => [name, cells.get(fid)?.[index] ?? null])), geometry: JSON.parse(geometry) as unknown,
    }]));
  }

  async function changes(from: ChangesFrom, most = 100): Promise<{ lines: ChangeLine[]; last: number }> {
    const lines: ChangeLine[] = [];
    const all = changesAfter(ask, { region: REGION, from, until: null, most }, ({ reason, kept_after: keptAfter }) => new Error(`refused: ${reason}${keptAfter === undefined ? '' : ` ${keptAfter}`}`));
    for (;;) {
      const next = await all.next();
      if (next.done === true) return { lines, last: next.value };
      lines.push(...next.value);
    }
  }

  async function happens(what: string, work: () => Promise<unknown>): Promise<void> {
    await daysGoBy(database, DAYS);
    await work();
    said.push(what);
    const [{ last }] = await database.query<{ last: number }>('select max(swap_id) as last from ledger.swap') as [{ last: number }];
    exports.push({ content: await content(), publication: last });
  }

  const stateOf = async (state: 'current' | 'previous', unit = REGION): Promise<boolean> => {
    const [found] = await database.query<{ there: boolean }>('select exists (select from ledger.publication where unit_code = $1 and state = $2) as there', [unit, state]);
    return found!.there;
  };
  const back = async (unit = REGION): Promise<void> => {
    if (await stateOf('previous', unit)) await asRun('rollback', (run) => rollback(database, unit, run));
  };
  const withdrawn = (): Promise<unknown> => asRun('withdraw', (run) => withdraw(database, REGION, run, null));

  beforeAll(async () => {
    await onOneDay();
    region = await smallRegion(FEW_SOURCES, PARCELS);
    database = await engine.openDatabase(await migratedDatabase(engine));
    ask = (sql, parameters) => one(database, sql, parameters);
    context = await contextOn(database);
    await happens('the first load', () => publish(0));
  });
  afterAll(() => region.remove());

  /**
   * Forgets the current file of a source and brings the file back into use. Does nothing if the current publication has no such file, for example after a
   * rollback.
   */
  async function forgetAndTakeBack(source: string): Promise<void> {
    const [file] = await database.query<{ sha256: string }>(
      `select f.sha256 from ledger.publication p join ledger.publication_file using (publication_id) join ledger.file f using (file_id) join ledger.release r using (release_id)
       where p.unit_code = $1 and p.state = 'current' and r.source_id = $2 order by f.vintage desc limit 1`, [REGION, source],
    );
    if (file === undefined) return;
    for (const undo of [false, true]) expect((await forget(context, file.sha256, { undo, accept: ACCEPTED })).report.failures).toEqual([]);
  }

  /** Returns the publication after which changes are kept, or 0 if all changes are kept. */
  async function keptAfter(): Promise<number> {
    const refused = await changes({ publication: 0, fid: null }).then(() => null, ({ message }: Error) => /^refused: not_kept (\d+)$/.exec(message));
    return Number(refused?.[1] ?? 0);
  }

  /**
   * Expects that the changes turn each export since the first kept publication into the newest export, and that changes after older publications are refused.
   * @returns the number of exports since the first kept publication, including the newest export
   */
  async function expectAll(): Promise<number> {
    const now = exports.at(-1)!.content;
    const kept = await keptAfter();
    const { lines } = await changes({ publication: kept, fid: null }, 1000);
    listed = lines;
    expect(lines).toEqual([...lines].sort((a, b) => a.publication - b.publication || a.fid - b.fid));
    const answered = exports.filter(({ publication }) => publication >= kept);
    for (const { content: old, publication } of answered) {
      const when = `from publication ${publication}; ${said.join(', ')}`;
      expect(applied(old, lines.filter((line) => line.publication > publication)), when).toEqual(now);
    }
    const { publication } = answered[Math.floor(random.next() * answered.length)]!;
    expect((await changes({ publication, fid: null })).lines).toEqual(lines.filter((line) => line.publication > publication));
    for (const { publication: old } of exports.filter((each) => each.publication < kept)) {
      await expect(changes({ publication: old, fid: null })).rejects.toThrow(`refused: not_kept ${kept}`);
    }
    return answered.length;
  }

  it(`turn an old export into the new export if all are applied: ${happenings} publications, seed ${seed}`, async () => {
    const kinds: readonly (readonly [string, (number: number) => Promise<unknown>])[] = [
      ['other files', (number) => publish(1 + (number % 5))],
      ['the first files', () => publish(0)],
      ['other prices', (number) => publish(1 + (number % 5), (folder) => raisePrices(folder, 10 * number))],
      ['other zones', (number) => publish(0, (folder) => seismicZones(folder, String(1 + (number % 4))))],
      ['other streets', (number) => publish(number % 2, (folder) => renameStreets(folder, 'I'.repeat(1 + (number % 3))))],
      ['other schools', (number) => publish(number % 2, (folder) => renameSchools(folder, 'I'.repeat(1 + (number % 3))))],
      ['a new name of a comune', (number) => publish(number % 2, (folder) => renameComune(folder, 'X'.repeat(1 + (number % 4))))],
      ['rollback', () => back()],
      ['rollback of Italy', () => back(0)],
      ['prune', () => prune(database, context.sources)],
      ['prune of history', () => prune(database, context.sources, { keep: MONTHS })],
      ['forget', () => forgetAndTakeBack('dpc_seismic')],
      ['withdrawn and published again', async () => {
        await withdrawn();
        await back();
      }],
      ['withdrawn and published again', async () => {
        await withdrawn();
        await releaseHold(database, REGION, null);
        await publish(2);
      }],
    ];
    for (let number = 1; number <= happenings; number += 1) {
      const [what, work] = kinds[Math.floor(random.next() * kinds.length)]!;
      await happens(what, () => work(number));
    }
    // The history of six months is kept. The test covers at least 18 exports, or all exports of a shorter run.
    expect(await expectAll()).toBeGreaterThanOrEqual(Math.min(18, happenings));
  }, 1_800_000);

  it('list the parcels of a street, a school or a comune with a new name', async () => {
    // No earlier file contains this name. A refresh does not publish rolled-back files again.
    const NEW = 'NUOVO';
    for (const [what, columns, work] of [
      ['streets', ['address_formatted_address'], (folder: string) => renameStreets(folder, NEW)],
      ['schools', ['poi_name'], (folder: string) => renameSchools(folder, NEW)],
      ['a comune', ['municipality_name', 'address_formatted_address'], (folder: string) => renameComune(folder, NEW)],
    ] as const) {
      await happens(`the first files before ${what}`, () => publish(0));
      const { publication } = exports.at(-1)!;
      await happens(what, () => publish(0, work));
      const { lines } = await changes({ publication, fid: null });
      expect(lines.filter((line) => columns.some((name) => Object.hasOwn(line.columns, name))).length, what).toBeGreaterThan(0);
    }
    await expectAll();
  });

  it('have the same counts of added, removed and changed parcels in the ledger and in the list, for each publication', async () => {
    const counted = await database.query<Record<'publication' | 'added' | 'removed' | 'changed' | 'unchanged', number>>(
      `select swap_id as publication, sum(added)::int4 as added, sum(removed)::int4 as removed, sum(changed)::int4 as changed, sum(unchanged)::int4 as unchanged
       from ledger.swap_count where swap_id > $1 group by swap_id order by swap_id`, [await keptAfter()],
    );
    const count = (publication: number, op: ChangeLine['op']): number => listed.filter((line) => line.publication === publication && line.op === op).length;
    expect(counted.map(({ publication, added, removed, changed }) => ({ publication, added, removed, changed }))).toEqual(
      counted.map(({ publication }) => ({
        publication, added: count(publication, 'add'), removed: count(publication, 'remove'), changed: count(publication, 'change'),
      })),
    );
    const { added, changed, unchanged } = counted.at(-1)!;
    expect(added + changed + unchanged).toBe(exports.at(-1)!.content.size);
    expect(counted.length).toBeGreaterThan(6);
  });

  it('can begin at a day or a publication, and have the same lines for any batch size', async () => {
    const { publication } = exports.at(-3)!;
    const whole = await changes({ publication, fid: null }, 10_000);
    expect(await changes({ publication, fid: null }, 7)).toEqual(whole);
    const [{ day }] = await database.query<{ day: string }>(
      "select (happened_at at time zone 'Europe/Rome')::date::text as day from ledger.swap where swap_id = $1", [exports.at(-2)!.publication],
    ) as [{ day: string }];
    expect((await changes({ day })).lines).toEqual(whole.lines);
  });

  it('list only the removal of every parcel, without columns, if the region is withdrawn', async () => {
    const before = exports.at(-1)!;
    await happens('withdrawn', withdrawn);
    const { lines } = await changes({ publication: await keptAfter(), fid: null }, 1000);
    for (const { fid, op, columns } of lines) expect([fid, op, columns]).toEqual([fid, 'remove', {}]);
    expect(applied(before.content, lines).size).toBe(0);
    await happens('back', () => back());
    await expectAll();
  });

  it('are refused after an unknown publication, and after a publication before the first kept publication, which the error names', async () => {
    await expect(changes({ publication: 1_000_000, fid: null })).rejects.toThrow('refused: unknown');
    await prune(database, context.sources, { keep: 1 });
    await expect(changes({ publication: 0, fid: null })).rejects.toThrow(/^refused: not_kept \d+$/);
    const kept = exports.slice(-3);
    for (const { content: old, publication } of kept) expect(applied(old, (await changes({ publication, fid: null })).lines)).toEqual(exports.at(-1)!.content);
    await prune(database, context.sources, { keep: 0 });
    expect((await changes({ publication: exports.at(-1)!.publication, fid: null })).lines).toEqual([]);
  });
});
