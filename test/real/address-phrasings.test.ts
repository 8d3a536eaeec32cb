/** Tests the ways in which people write addresses, from a file next to the checkout. Each query must find its street and number at rank 1. */
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { parseQuery } from '../../pipelines/address/parse-query.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { makeRegion } from '../../pipelines/synthetic/make-region.ts';
import { ADDRESS_SOURCES, ADDRESS_SQL, buildAddresses } from '../harness/address-workspace.ts';
import { describeDatabase } from '../harness/database.ts';
import { addStreets } from '../harness/made-streets.ts';
import { rowsAsked, firstOf } from '../harness/phrasings.ts';
import { sectionWorkspace } from '../harness/section-workspace.ts';

const FILE = fileURLToPath(new URL('../../../shared/facts/address-queries-2.tsv', import.meta.url));
const region = makeRegion({ parcels: 2_000, seed: 11 });
const COMUNE = 'Roccapparente';

describeDatabase('a search with the queries of address-queries-2.tsv', (engine) => {
  const rows = existsSync(FILE) ? rowsAsked(readFileSync(FILE, 'utf8')) : [];
  const comune = region.comuni.find(({ italianName }) => italianName === COMUNE)!;
  let database: Database;

  beforeAll(async () => {
    if (rows.length === 0) return;
    database = await engine.openDatabase();
    const workspace = await sectionWorkspace(database, { region, sources: ADDRESS_SOURCES, sql: ADDRESS_SQL });
    await buildAddresses(workspace, database, region);
    const streets = new Map<string, number[]>();
    for (const { street, number } of rows) if (street !== 'Via Roma') streets.set(street, [...streets.get(street) ?? [], ...(number === null ? [] : [number])]);
    await addStreets(database, region.code, comune.belfiore, [...streets].map(([name, numbers]) => ({ name, numbers: [...new Set(numbers)] })));
    await database.query('insert into core.comune_name values ($1, $2::text, $3, $4, $2::text) on conflict do nothing', [region.code, '86140', comune.belfiore, 'postal_code']);
  });

  it.skipIf(rows.length === 0).each(['geocoder-tester', 'own'])('finds the address of every query of the kind %s at rank 1', async (kind) => {
    const asked = rows.filter((row) => row.kind === kind);
    const missed: unknown[] = [];
    for (const { query, street, number } of asked) {
      for (const text of [query, query.replace(/\bCAP\b/, '86140')]) {
        const found = await firstOf(database, text, parseQuery);
        const isRight = found?.municipality_code === comune.belfiore && found.street_name.toLowerCase() === street.toLowerCase()
          && (number === null || found.street_number === String(number));
        if (!isRight) missed.push([text, found?.street_name, found?.street_number, found?.municipality_code]);
      }
    }
    expect(missed).toEqual([]);
  });
});
