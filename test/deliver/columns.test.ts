/** Tests that a section's columns in exports have the same values as the record, for every parcel and every section. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { columnsOf, parseSections, rowsOf, type Ask, type Cell } from '../../pipelines/deliver/columns.ts';
import { SECTION_NAMES, SECTIONS } from '../../pipelines/contract/sections.ts';
import { one, type Database } from '../../pipelines/db/index.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeDatabase } from '../harness/database.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { contextOn, loadOptions, syntheticFiles } from '../harness/region.ts';

type Json = Readonly<Record<string, unknown>>;

/** Returns the value at a path in a section of a record, or null. */
function valueAt(block: unknown, path: string): unknown {
  let value: unknown = block;
  for (const step of path.split('.')) value = (value as Json | null | undefined)?.[step];
  return value ?? null;
}

/** Returns the cells expected from the record of a parcel. */
function cellsOfRecord(record: Json): unknown[] {
  const coverages = (record['meta'] as { coverage: Readonly<Record<string, string>> }).coverage;
  return SECTIONS.flatMap(({ name, flat, coverage }) => {
    const expected = coverages[name] ?? null;
    const cells = Object.entries(flat).map(([column, { of = column }]) => {
      const value = valueAt(record[name], of);
      return of === 'length' && value === 0 && expected !== 'mapped' ? null : value;
    });
    return coverage === 'meta' && name !== 'basic' ? [...cells, expected] : cells;
  });
}

describeDatabase('the columns of the sections', (engine) => {
  // The regions are Molise, and Trentino-Alto Adige with its land registers.
  const files: Awaited<ReturnType<typeof syntheticFiles>>[] = [];
  let database: Database;
  let ask: Ask;

  beforeAll(async () => {
    files.push(await syntheticFiles(700, 31, { comuni: 3, dense: true }), await syntheticFiles(120, 32, { comuni: 2, code: 4 }));
    database = await engine.openDatabase(await migratedDatabase(engine));
    const context = await contextOn(database);
    for (const [index, region] of [14, 4].entries()) await refresh(context, loadOptions([files[index]!.folder], [region]));
    ask = (statement, parameters) => one(database, statement, parameters);
  });

  afterAll(async () => {
    for (const each of files) await each.remove();
  });

  it('have the values of the record of each parcel, and contain the coverage of empty sections', async () => {
    const parcels = await database.query<{ fid: number; record: Json }>('select p.fid, api.parcel(p.fid, $1) as record from core.parcel p order by p.fid', [SECTION_NAMES]);
    expect(parcels.length).toBeGreaterThan(800);
    const { cells } = await rowsOf(ask, parcels.map(({ fid }) => fid), SECTION_NAMES);
    const names = columnsOf(SECTION_NAMES).map(({ name }) => name);
    const differing = parcels.flatMap(({ fid, record }) => {
      const [found, expected] = [cells.get(fid) ?? [], cellsOfRecord(record)];
      return names.flatMap((name, index) => (found[index] === expected[index] ? [] : [`${fid} ${name}: expected ${String(expected[index])}, found ${String(found[index])}`]));
    });
    expect(differing.slice(0, 20)).toEqual([]);
    // A column without any value would pass every comparison. Synthetic sheets have attachments but no developments.
    const filled = new Set(names.filter((_, index) => [...cells.values()].some((row: readonly Cell[]) => row[index] !== null)));
    expect(names.filter((name) => !filled.has(name))).toEqual(['development']);
  });

  it('have unique names, the declared type and a description', async () => {
    const { cells } = await rowsOf(ask, await fidsOf(database), SECTION_NAMES);
    const fits: Readonly<Record<string, (cell: Cell) => boolean>> = {
      int2: Number.isInteger, int4: Number.isInteger, int8: Number.isInteger, float8: Number.isFinite, text: (cell) => typeof cell === 'string', bool: (cell) => typeof cell === 'boolean',
    };
    const columns = columnsOf(SECTION_NAMES);
    const wrong = columns.filter(({ type }, index) => ![...cells.values()].every((row) => row[index] === null || fits[type]!(row[index] as Cell)));
    expect(wrong.map(({ name }) => name)).toEqual([]);
    expect(columns.filter(({ description, name }) => description.length < 3 || description === name)).toEqual([]);
    expect(new Set(columns.map(({ name }) => name)).size).toBe(columns.length);
  });

  it('have no rows for parcels that are not published', async () => {
    const { cells } = await rowsOf(ask, [1_499_999_999, 1_500_000_000], parseSections(undefined));
    expect(cells.size).toBe(0);
  });
});

async function fidsOf(database: Database): Promise<number[]> {
  return (await database.query<{ fid: number }>('select fid from core.parcel order by fid')).map(({ fid }) => fid);
}
