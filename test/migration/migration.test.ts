/** A database that an earlier version made is brought to this one: nothing of what is published changes, nothing that was kept is lost. */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import { rollback } from '../../pipelines/steps/publish.ts';
import { withRun } from '../../pipelines/steps/ledger.ts';
import { serviceOn } from '../api/harness.ts';
import { describeEngines } from '../harness/database.ts';
import { contextOn } from '../harness/region.ts';
import { contentOf, differences, FIXTURES, fixture, shapeOf, type Shape } from './fixture.ts';

it('there is a database of the version before the first change of layers', () => {
  expect(FIXTURES).toContain('59d6032');
});

for (const name of FIXTURES) {
  describeEngines(`a database of ${name}`, (engine) => {
    const made = fixture(name);
    let url: string;
    let database: Database;
    let shape: Shape;
    let before: Record<string, string>;
    /** Without what two rollbacks note: the runs, and since when a parcel that is gone is gone. */
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
      await contextOn(database);
    });

    it('held tables of every kind', () => {
      expect([...shape.keys()].map((table) => table.split('.')[0]).filter((schema, index, all) => all.indexOf(schema) === index)).toEqual(['access', 'core', 'layer', 'ledger', 'previous', 'section']);
      for (const table of ['core.parcel_register_14', 'access.token', 'ledger.reject', 'ledger.publication_table', 'previous.parcel_14_2']) expect(before[table]).toMatch(/^[1-9]\d* rows/);
    });

    it('keeps every row of every table', async () => {
      expect(await database.session((session) => contentOf(session, shape))).toEqual(before);
    });

    it('answers as it did, but for fields that were added', async () => {
      const service = await serviceOn(database, url);
      try {
        expect(Object.keys(made.answers).length).toBeGreaterThan(300);
        const found: string[] = [];
        for (const [path, was] of Object.entries(made.answers)) {
          const { status, body } = await service.ask(path, { key: made.about.token });
          found.push(...(status === 200 ? differences(was, body) : [`: ${status} ${JSON.stringify(body)}`]).map((line) => `${path}${line}`));
        }
        expect(found).toEqual([]);
      } finally {
        await service.close();
      }
    });

    describe('and then', () => {
      it('goes back to its previous publication, and forth', async () => {
        const back = (): Promise<{ tables: readonly string[] }> => withRun(database, { command: 'rollback', arguments: {}, version: 'test', host: 'test' }, (run) => rollback(database, 14, run.runId));
        const { tables } = await back();
        expect(tables).toContain('core.parcel');
        expect((await back()).tables).toEqual(tables);
        expect(await database.session((session) => contentOf(session, lasting))).toEqual(lastingBefore);
      });
    });
  });
}
