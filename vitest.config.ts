import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { lanes, type Lane } from './test/harness/lanes.ts';
import Summary from './test/harness/summary.ts';

const files = lanes(import.meta.dirname);

/** Lanes in which each file gets a process. Files of the other lanes share one process per worker, which loads the program once. */
const ISOLATED: readonly Lane[] = ['alone', 'random', 'faults', 'random-faults', 'real'];

/**
 * Faults run after all other tests, because an injected fault must not affect other tests. Each worker may have an embedded database of 1 GB.
 */
function project(name: Lane, order: number, maxWorkers: number) {
  const isolate = ISOLATED.includes(name);
  return { test: { name, include: [...files[name]], testTimeout: 300_000, hookTimeout: 300_000, sequence: { groupOrder: order }, maxWorkers, isolate } };
}

/** Runs the files lane by lane, so the next file of a worker can use the same process. Short files are last, so all workers end at almost the same time. */
class LaneByLane extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const order = Object.keys(projects);
    return (await super.sort(specifications)).sort((one, other) => order.indexOf(one.project.name) - order.indexOf(other.project.name));
  }
}

/** There is one worker more than cores, because workers also wait for the database server and for child processes. */
const workers = Math.min(8, availableParallelism() + 1);

const projects: Readonly<Record<Lane, ReturnType<typeof project>>> = {
  database: project('database', 0, workers),
  alone: project('alone', 0, workers),
  random: project('random', 0, workers),
  real: project('real', 0, workers),
  unit: project('unit', 0, workers),
  faults: project('faults', 1, 2),
  'random-faults': project('random-faults', 1, 2),
};

export default defineConfig({
  test: {
    // With this cache, the unit tests of a second run take a seventh less CPU time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LaneByLane },
    globalSetup: ['test/harness/global-setup.ts'],
    reporters: ['default', new Summary()],
    projects: Object.values(projects),
  },
});
