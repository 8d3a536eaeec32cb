/** Tests that after any sequence of file changes the publication equals a fresh load of the current files. */
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { forget } from '../../pipelines/operate/forget.ts';
import { releaseHold } from '../../pipelines/ledger/hold.ts';
import { rollback } from '../../pipelines/build/publish.ts';
import { exitCodeOf } from '../../pipelines/run/refresh.ts';
import { Machine } from '../harness/faults/machine.ts';
import { describeEngines } from '../harness/database.ts';
import { testEnvironment } from '../harness/environment.ts';
import { migratedDatabase } from '../harness/fresh-context.ts';
import { openRun } from '../harness/run.ts';
import { ACCEPTED, contentOf, REGION, smallStart, Story, type Happening, type Start } from '../harness/arrival.ts';

const pick = fc.nat({ max: 1000 });
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constantFrom('take away', 'put back', 'issue again', 'issue again', 'comune alone', 'forget', 'damage', 'damage', 'repair'), pick }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constantFrom('split', 'merge', 'move') }) },
  { weight: 5, arbitrary: fc.record({ what: fc.constantFrom('refresh', 'refresh', 'refresh', 'roll back') }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('kill'), after: fc.integer({ min: 200, max: 4000 }) }) },
);

const { sequences, seed } = testEnvironment();

describeEngines('files that come in any order', (engine) => {
  let start: Start;
  const runs = sequences[engine.name];

  beforeAll(async () => {
    start = await smallStart(await migratedDatabase(engine));
  });
  afterAll(() => start.remove());

  const happen = async (story: Story, each: Happening): Promise<void> => {
    const { database } = story.context;
    switch (each.what) {
      case 'take away': return story.takeAway(each.pick);
      case 'put back': return story.putBack(each.pick);
      case 'issue again': return story.issueAgain(each.pick);
      case 'damage': return story.damage(each.pick);
      case 'repair': return story.repair(each.pick);
      case 'comune alone': return story.comuneAlone(each.pick);
      case 'split': return story.split();
      case 'merge': return story.merge();
      case 'move': return story.move();
      case 'forget': {
        const file = await story.forgettable(each.pick);
        if (file !== null) await forget(story.context, file, { accept: ACCEPTED });
        return;
      }
      case 'roll back': {
        await rollback(database, REGION, await openRun(database)).catch((error: unknown) => {
          if ((error as { code?: string }).code !== 'NO_PREVIOUS') throw error;
        });
        return;
      }
      case 'kill': {
        if (engine.name !== 'postgres') return;
        const machine = new Machine(story.url, ['refresh', 'molise', '--data', story.folder, '--accept', 'a test']);
        await sleep(each.after);
        await machine.kill();
        return story.keep();
      }
      case 'refresh': {
        const report = await story.refresh();
        // A damaged optional file is left out, and no other file fails.
        const others = report.failures.filter((failure) => !report.leftOut.some((left) => left.failure === failure));
        expect(others.map(({ code, detail }) => `${code} ${detail ?? ''}`)).toEqual([]);
        expect(exitCodeOf(report)).toBe(report.leftOut.length === 0 ? 0 : 3);
      }
    }
  };

  it(`give the same publication as a fresh load of the current files after random changes: ${runs} sequences, seed ${seed}`, async () => {
    let held = 0;
    await fc.assert(fc.asyncProperty(fc.array(happening, { minLength: 2, maxLength: 7 }), async (happenings) => {
      const story = await Story.begin(start, await engine.copyDatabase(start.url));
      try {
        for (const each of happenings) await happen(story, each);
        // The test releases the hold of a rollback, so that the last refresh publishes the current files.
        await releaseHold(story.context.database, REGION, null);
        await happen(story, { what: 'refresh' });
        const published = await contentOf(story.context.database, await story.regions(story.context.database));
        expect(Object.keys(published).length).toBeGreaterThan(15);
        expect(await story.fresh(await migratedDatabase(engine))).toEqual(published);
        // A further run publishes nothing. If no damaged file waits for its repair, the ledger does not even record the run.
        const again = await story.refresh();
        expect(again.units).toEqual([]);
        if (again.leftOut.length === 0) expect(again.runId).toBeNull();
        // Prints the progress, because many sequences take hours.
        if ((held += 1) % 10 === 0) console.log(`${engine.name}: ${held} of ${runs} sequences passed`);
      } catch (error) {
        console.log(`${engine.name}: failed sequence: ${JSON.stringify(happenings)}`);
        throw error;
      } finally {
        await story.end();
      }
    }), { numRuns: runs, seed, endOnFailure: false });
  }, 120_000 * (runs + 5));
});
