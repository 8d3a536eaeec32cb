/**
 * Tests that adding one folder of at most six files adds a source. Copies the checkout, adds `test/stations` to its sources, and checks every part of the
 * new source. `sources/README.md` describes the same steps.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { copyCheckout, onDatabase, type Checkout } from '../harness/checkout.ts';
import { describeDatabase } from '../harness/database.ts';
import { syntheticFiles } from '../harness/region.ts';
import synthetic from '../stations/synthetic.ts';

const ID = 'rfi_stations';
/** Maximum number of files of a simple source, including its fixture and golden file. */
const MOST_FILES = 6;
/** Tests that a new source must pass without changes to files outside the folder of the source. */
const TESTS_OF_SOURCES = [
  'test/contract/sources.test.ts', 'test/contract/goldens.test.ts', 'test/contract/versions.test.ts', 'test/contract/downloads.test.ts', 'test/contract/evidence.test.ts',
  'test/sections/italian.test.ts', 'test/architecture/sql.test.ts', 'test/architecture/documentation.test.ts', 'test/architecture/publiccode.test.ts',
];
const LISTS = ['ade_cadastre', 'istat_comuni'];

describeDatabase('a source added as one folder', (engine) => {
  let copy: Checkout;
  let files: Awaited<ReturnType<typeof syntheticFiles>>;
  let url: string;

  const look = <T>(work: (database: Database) => Promise<T>): Promise<T> => onDatabase(url, work);

  beforeAll(async () => {
    files = await syntheticFiles(40, 4, { only: LISTS, comuni: 3 });
    await synthetic.write(files.region, files.folder);
    url = await engine.createDatabase();
    copy = await copyCheckout(['test/stations', `sources/${ID}`]);
  });
  afterAll(async () => {
    await files?.remove();
    await copy?.remove();
  });

  it('is listed with its licence, and validate recognises its file', async () => {
    const listed = JSON.parse(await copy.mappale(url, 'sources', '--json')) as { id: string; attribution: { license: string } }[];
    expect(listed.find(({ id }) => id === ID)).toMatchObject({ attribution: { license: 'CC-BY-4.0' } });
    const verdicts = JSON.parse(await copy.mappale(url, 'validate', `${files.folder}/stazioni_2026.csv`, '--json')) as unknown;
    expect(JSON.stringify(verdicts)).toContain(`"source":"${ID}"`);
  });

  it('is loaded into its layer, with every record counted and with the file and line of every row', async () => {
    const report = JSON.parse(await copy.mappale(url, 'load-region', 'molise', '--data', files.folder, '--json')) as { loaded: { source: string }[]; failures: unknown[] };
    expect(report.failures).toEqual([]);
    expect(report.loaded.find(({ source }) => source === ID)).toMatchObject({ records: 5, rows: 3, rejects: 1, duplicates: 1 });
    const rows = await look((database) => database.query(
      `select s.station_code, s.name, st_astext(s.geom) as place, s.position::int4 as line, f.name as file
       from layer.station s join ledger.member m using (member_id) join ledger.file f using (file_id) order by 1`,
    ));
    expect(rows).toEqual(files.region.comuni.map(({ name }, index) => ({
      station_code: `S0000${index}`, name: `Stazione di ${name}`, place: `POINT(${14.5 + index / 100} ${41.5 + index / 100})`, line: index + 2, file: 'stazioni_2026.csv',
    })));
  });

  it('has a reason for its reject, and a comment on its table', async () => {
    const { rejects } = JSON.parse(await copy.mappale(url, 'rejects', '--json')) as { rejects: { code: string; message: string; raw: string }[] };
    expect(rejects.filter(({ code }) => code === 'station_code_invalid')).toMatchObject([{ message: expect.stringContaining('expected S and five digits') as string, raw: 'X;Senza codice;41.50000;14.50000;RFI' }]);
    expect(await look((database) => database.query("select obj_description('layer.station'::regclass) as comment"))).toEqual([{ comment: 'Railway stations (RFI)' }]);
  });

  it('is not read again if nothing changed', async () => {
    const plan = JSON.parse(await copy.mappale(url, 'plan', 'molise', '--data', files.folder, '--json')) as { load: unknown[]; build: { stale: unknown[] }[] };
    expect([plan.load, plan.build.flatMap(({ stale }) => stale)]).toEqual([[], []]);
  });

  it('passes the tests of all sources without changes to other files', async () => {
    const files = readdirSync(join(copy.folder, 'sources', ID), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeLessThanOrEqual(MOST_FILES);
    const said = await copy.run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', ...TESTS_OF_SOURCES, '--reporter', 'json']).catch((error: unknown) => (error as { stdout: string }).stdout);
    const { numPassedTests, testResults } = JSON.parse(said.slice(said.indexOf('{"num'), said.lastIndexOf('}') + 1)) as { numPassedTests: number; testResults: { assertionResults: { status: string; fullName: string }[] }[] };
    expect(testResults.flatMap(({ assertionResults }) => assertionResults).filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)).toEqual([]);
    expect(numPassedTests).toBeGreaterThan(300);
  });
});
