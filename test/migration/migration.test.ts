/** Tests the migration of databases of earlier versions to this version. The publication must stay unchanged, and nothing may be lost. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Context } from '../../pipelines/run/context.ts';
import type { Database } from '../../pipelines/db/index.ts';
import { alignPrevious } from '../../pipelines/db/reshape.ts';
import { rollback } from '../../pipelines/build/publish.ts';
import { withRun } from '../../pipelines/ledger/runs.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import { explain } from '../../pipelines/operate/explain.ts';
import { isDone, staleOf } from '../../pipelines/plan/plan.ts';
import { preview, refresh } from '../../pipelines/run/refresh.ts';
import { serviceOn } from '../api/harness.ts';
import { describeEngines } from '../harness/database.ts';
import { contextOn, loadOptions } from '../harness/region.ts';
import { rolledBack } from '../harness/rolled-back.ts';
import { contentOf, differences, FIXTURES, fixture, publishedByReference, shapeOf, type Shape } from '../harness/migration-fixture.ts';

/** Removes licences that this version cites differently: licences of empty sections, and licences without a section (`*`). */
function shown<T>(answer: T): T {
  const record = answer as { meta?: { licenses?: readonly { section: string }[] } } & Record<string, unknown>;
  if (!Array.isArray(record?.meta?.licenses)) return answer;
  const licenses = record.meta.licenses.filter(({ section }) => section !== '*' && !['null', '[]'].includes(JSON.stringify(record[section])));
  return { ...record, meta: { ...record.meta, licenses } } as T;
}

it('the fixtures include the version before the first change of layers', () => {
  expect(FIXTURES).toContain('59d6032');
});

for (const name of FIXTURES) {
  describeEngines(`a database of commit ${name}`, (engine) => {
    const made = fixture(name);
    let url: string;
    let database: Database;
    let context: Context;
    let shape: Shape;
    let before: Record<string, string>;
    /** Tables and columns that two rollbacks do not change. Runs, rate limits and the retirement dates of parcels are left out. */
    let lasting: Shape;
    let lastingBefore: Record<string, string>;

    beforeAll(async () => {
      url = await made.restore(engine);
      database = await engine.openDatabase(url);
      await database.session(async (session) => {
        shape = await shapeOf(session);
        before = await contentOf(session, shape);
        lasting = new Map([...shape].filter(([table]) => !['ledger.run', 'access.rate_window'].includes(table)).map(([table, columns]) => [table, columns.filter((column) => column !== 'retired_on')]));
        lastingBefore = await contentOf(session, lasting);
      });
      context = await contextOn(database);
    });

    it('has tables in each schema, and rows in selected tables, before the migration', () => {
      expect([...shape.keys()].map((table) => table.split('.')[0]).filter((schema, index, all) => all.indexOf(schema) === index)).toEqual(['access', 'core', 'layer', 'ledger', 'previous', 'section']);
      for (const table of ['core.parcel_register_14', 'access.token', 'ledger.reject', 'ledger.publication_table', 'previous.parcel_14_2']) expect(before[table]).toMatch(/^[1-9]\d* rows/);
    });

    it('keeps every row of every table', async () => {
      expect(await database.session((session) => contentOf(session, shape))).toEqual(before);
    });

    it('returns the same responses, except for added fields', async () => {
      const service = await serviceOn(database, url);
      try {
        expect(Object.keys(made.answers).length).toBeGreaterThan(300);
        const found: string[] = [];
        // Responses to requests with a bounding box are left out. A box now has a tolerance at its border, which changes the first page.
        for (const [path, was] of Object.entries(made.answers).filter(([each]) => !each.includes('bbox='))) {
          const { status, body } = await service.ask(path, { key: made.about.token });
          found.push(...(status === 200 ? differences(shown(was), shown(body)) : [`: ${status} ${JSON.stringify(body)}`]).map((line) => `${path}${line}`));
        }
        expect(found).toEqual([]);
      } finally {
        await service.close();
      }
    });

    it('reports not_applicable for all but four sections of a published road, and for no section of land', async () => {
      const records = await database.query<{ kind: string; coverage: Record<string, string> }>(
        "select p.kind, api.parcel(p.fid, $1)::json #> '{meta,coverage}' as coverage from core.parcel p where p.fid in (select min(q.fid) from core.parcel q group by q.kind)", [SECTION_NAMES],
      );
      expect(records.map(({ kind }) => kind).sort()).toEqual(['land', 'road']);
      for (const { kind, coverage } of records) {
        const unfit = Object.entries(coverage).filter(([, word]) => word === 'not_applicable').map(([section]) => section);
        expect([kind, unfit]).toEqual([kind, kind === 'land' ? [] : SECTION_NAMES.filter((section) => !['basic', 'risk', 'subsidence', 'coastal_erosion'].includes(section))]);
      }
    });

    it('reports which tables are stale, with the reason', async () => {
      const files = await made.files();
      try {
        const { plan: { loads, builds } } = await preview(context, loadOptions([files.folder], null));
        const why = (reasons: readonly { readonly why: string }[]): Set<string> => new Set(reasons.map((each) => each.why));
        // The folder contains the loaded files, and a tile of an older edition that the earlier version did not use.
        expect([...why(loads)].sort()).toEqual(['an earlier version of the program recorded no inputs', 'not loaded yet']);
        expect(loads.filter((each) => each.why === 'not loaded yet').map(({ located }) => `${located.source.id} ${located.vintage}`)).toEqual(['egms_vertical 2018_2022']);
        expect(builds.map(({ region }) => region)).toEqual([0, 14]);
        const stale = builds.flatMap(({ products }) => staleOf(products));
        expect([...why(stale)].sort()).toEqual(['an earlier version of the program recorded no inputs', 'not published yet']);
        const published = new Set((await database.query<{ relation: string }>("select relation from ledger.publication_table join ledger.publication using (publication_id) where state = 'current'")).map(({ relation }) => relation));
        for (const { relation, why: reason } of stale) expect([relation, reason === 'not published yet']).toEqual([relation, !published.has(relation)]);
      } finally {
        await files.remove();
      }
    });

    it('explains its published values', async () => {
      const { evidence } = await explain(context, 1_400_000_000, 'risk');
      expect(new Set(evidence.map(({ source }) => source)).size).toBeGreaterThan(1);
    });

    describe('afterwards', () => {
      it('gives a table of the previous publication a column that a migration adds, even if the table has the name of an earlier partition', async () => {
        const steps = await rolledBack(database, async (session) => {
          // A publication that replaces rows in place keeps the table, which has the name of an earlier partition.
          await session.query('alter table previous.parcel_14_2 rename to parcel_14_1');
          await session.query("update ledger.publication_table set held_in = 'parcel_14_1' where relation = 'core.parcel' and partition = 'parcel_14_2'");
          await session.query('alter table core.parcel add column note text');
          return alignPrevious(session);
        });
        expect(steps).toContain('previous.parcel_14_1: column note added, empty');
      });

      it('rolls back to its previous publication and forward again', async () => {
        const back = (): Promise<{ tables: readonly string[] }> => withRun(database, { command: 'rollback', arguments: {}, version: 'test', host: 'test' }, (run) => rollback(database, 14, run.runId));
        const { tables } = await back();
        expect(tables).toContain('core.parcel');
        expect((await back()).tables).toEqual(tables);
        expect(await database.session((session) => contentOf(session, lasting))).toEqual(lastingBefore);
      });

      // This test runs on one engine only. The embedded database would take twice as long with the same SQL.
      if (engine.name === 'postgres') it('publishes the same content as a fresh load after a refresh of the same files, and keeps the fid of every parcel', async () => {
        const files = await made.files();
        try {
          const fids = (): Promise<{ reference: string; fid: number }[]> => database.query('select reference, fid from core.parcel order by fid');
          const had = await fids();
          // Rules have changed since that version. The refresh accepts the changed values, and the zones without quotations in these synthetic files.
          const options = loadOptions([files.folder], null, { accept: { who: 'test', why: 'the rules of this version' } });
          expect((await refresh(context, options)).failures).toEqual([]);
          const now = new Map((await fids()).map(({ reference, fid }) => [reference, fid]));
          expect(had.filter(({ reference, fid }) => now.has(reference) && now.get(reference) !== fid)).toEqual([]);
          expect(now.size).toBe(had.length);
          const fresh = await contextOn(await engine.openDatabase());
          expect((await refresh(fresh, options)).failures).toEqual([]);
          expect(await publishedByReference(database)).toEqual(await publishedByReference(fresh.database));
          expect(isDone((await preview(context, options)).plan)).toBe(true);
        } finally {
          await files.remove();
        }
      });
    });
  });
}
