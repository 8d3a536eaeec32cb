/**
 * Compares the rows of every table of a small synthetic region with golden files, on both engines. The golden files show the effects of a change of SQL.
 * `npx vitest run test/sections/goldens.test.ts -u` writes the files. The golden file of a section's table also has the version of its SQL. If the rows
 * changed and the version was not raised, the test fails, names the next version and does not write the file. For other tables
 * `test/contract/versions.test.ts` names the version.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../../pipelines/config.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { ident } from '../../pipelines/db/index.ts';
import { SECTIONS, tableOfSection } from '../../pipelines/contract/sections.ts';
import { tableOf } from '../../pipelines/contract/sql-files.ts';
import { productFiles } from '../../pipelines/plan/products.ts';
import { refresh } from '../../pipelines/run/refresh.ts';
import { describeEngines } from '../harness/database.ts';
import { goldenOf, goldenText, readGolden } from '../harness/golden.ts';
import { freshContext } from '../harness/fresh-context.ts';
import { syntheticFiles, loadOptions } from '../harness/region.ts';
import { currentVersions, recordedVersions, rowsDigest, violations } from '../harness/versions.ts';

/** Versions that are recorded in the golden files, read before a golden file is written. */
const RECORDED = await recordedVersions();
const { versions, upstream } = await currentVersions();

const parsed = (rows: readonly string[]): unknown => rows.map((row) => JSON.parse(row) as unknown);

/** Columns with ids of this database or the provenance of a row. */
const OWN: readonly string[] = ['release_id', 'member_id', 'document_id', 'file_id', 'position'];

/** Tables that are empty because the lists of comuni are complete here. Other tests fill these tables from other lists. */
const EMPTY: readonly string[] = ['core.comune_found'];

/** SQL file of a table that is built in every region, but has rows only in regions with land registers. */
const REGISTERS = 'sql/core/comune_catastale.sql';

/** Rounds coordinates in degrees to about a centimetre, and all other numbers to a ten-thousandth. Omits the CRS and the columns of `OWN`. */
function rounded(value: unknown, key = ''): unknown {
  if (typeof value === 'number') return Number(value.toFixed(key === 'coordinates' ? 7 : 4));
  if (Array.isArray(value)) return value.map((each) => rounded(each, key));
  if (typeof value === 'object' && value !== null) return Object.fromEntries(Object.entries(value).filter(([name]) => !OWN.includes(name) && name !== 'crs').map(([name, each]) => [name, rounded(each, name)]));
  return value;
}

/** Returns whether two values are equal, except for the last digit of numbers. A different version of PROJ may move a corner by half a millimetre. */
function close(one: unknown, other: unknown, key = ''): boolean {
  if (typeof one === 'number' && typeof other === 'number') return Math.abs(one - other) <= (key === 'coordinates' ? 1.5e-7 : 1.5e-4 + 1e-6 * Math.abs(one));
  if (typeof one !== 'object' || one === null || typeof other !== 'object' || other === null) return one === other;
  const keys = Object.keys(one);
  return (
    keys.length === Object.keys(other).length
    && keys.every(
      (each) => each in other && close((one as Record<string, unknown>)[each], (other as Record<string, unknown>)[each], Array.isArray(one) ? key : each),
    )
  );
}

/** The two regions. Some files build tables only for the second region, from its land registers. */
const [FIRST, SECOND] = [14, 4];
const OF_FIRST = [...productFiles(0), ...productFiles(FIRST)].filter(({ file }) => file !== REGISTERS);
const OF_SECOND = productFiles(SECOND).filter(({ file }) => file === REGISTERS || !OF_FIRST.some((other) => other.file === file));

describe.each([{ code: FIRST, makers: OF_FIRST }, { code: SECOND, makers: OF_SECOND }])('region $code', ({ code, makers }) => describeEngines('the tables of a synthetic region', (engine) => {
  let context: Context;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;

  beforeAll(async () => {
    files = await syntheticFiles(40, 11, { comuni: 2, code });
    context = await freshContext(engine);
    expect((await refresh(context, loadOptions([files.folder], null))).failures).toEqual([]);
  });
  afterAll(() => files.remove());

  it.each(SECTIONS)('include the section $name only for its declared kinds of parcels', async ({ name, kinds }) => {
    const found = await context.database.query<{ kind: string }>(`select distinct p.kind from core.parcel p join ${tableOfSection(name)} s using (fid)`);
    expect(found.length).toBeGreaterThan(0);
    expect(found.filter(({ kind }) => !(kinds as readonly string[]).includes(kind))).toEqual([]);
  });

  for (const file of makers) {
    const relation = file.writes[0]!;
    it(`${relation} equals its golden file`, async () => {
      const rows = await context.database.query<{ row: unknown }>(`select to_jsonb(t) as row from ${ident(relation.split('.')[0]!, tableOf(relation))} t`);
      const lines = rows.map(({ row }) => JSON.stringify(rounded(row))).sort();
      expect(lines.length > 0).toBe(!EMPTY.includes(relation));
      const path = join(ROOT, goldenOf(file));
      if (file.section === null) {
        const [before, now] = [existsSync(path) ? readFileSync(path, 'utf8') : null, `[\n${lines.join(',\n')}\n]\n`];
        await expect(before !== null && close(JSON.parse(before), JSON.parse(now)) ? before : now).toMatchFileSnapshot(path);
        return;
      }
      const before = readGolden(goldenOf(file));
      const kept = before.rows !== undefined && close(parsed(before.rows), parsed(lines)) ? before.rows : lines;
      // With -u, the file is written only if the version was raised.
      const now = { ...versions, tables: { ...versions.tables, [file.file]: { version: file.version!, goldens: { [goldenOf(file)]: rowsDigest(kept) } } } };
      expect(violations(RECORDED, now, upstream).filter((each) => each.includes(`${file.file} `))).toEqual([]);
      await expect(goldenText({ ...before, version: file.version!, rows: kept })).toMatchFileSnapshot(path);
    });
  }
}));
