/**
 * Tests that adding one folder adds a source. Copies the checkout, adds `test/stations` to its sources, and checks every part of a source.
 * `sources/README.md` has the same steps.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { copyCheckout, onDatabase, type Checkout } from '../harness/checkout.ts';
import { describeDatabase } from '../harness/database.ts';
import { syntheticFiles } from '../harness/region.ts';
import synthetic from '../stations/synthetic.ts';

const ID = 'rfi_stations';
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

  it('is listed with its licence, and validation of its file reports only the expected rejects', async () => {
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

  it('has a reason for each reject, and comments on its tables and columns', async () => {
    const { rejects } = JSON.parse(await copy.mappale(url, 'rejects', '--json')) as { rejects: { code: string; message: string; raw: string }[] };
    expect(rejects.filter(({ code }) => code === 'station_code_invalid')).toMatchObject([{ message: expect.stringContaining('expected S and five digits') as string, raw: 'X;Senza codice;41.50000;14.50000;RFI' }]);
    expect(await look((database) => database.query("select obj_description('layer.station'::regclass) as comment"))).toEqual([{ comment: 'Railway stations (RFI)' }]);
  });

  it('is not read again if nothing changed', async () => {
    const plan = JSON.parse(await copy.mappale(url, 'plan', 'molise', '--data', files.folder, '--json')) as { load: unknown[]; build: { stale: unknown[] }[] };
    expect([plan.load, plan.build.flatMap(({ stale }) => stale)]).toEqual([[], []]);
  });

  it('passes the tests of all sources', async () => {
    const said = await copy.run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/contract/sources.test.ts', '-t', ID, '--reporter', 'json']);
    const { success, numPassedTests } = JSON.parse(said.slice(said.indexOf('{"num'), said.lastIndexOf('}') + 1)) as { success: boolean; numPassedTests: number };
    expect([success, numPassedTests > 5]).toEqual([true, true]);
  });
});
