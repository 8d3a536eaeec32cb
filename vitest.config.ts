import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { lanes, type Lane } from './test/harness/lanes.ts';
import Summary from './test/harness/summary.ts';

const files = lanes(import.meta.dirname);

/** Lanes in which each test file has a separate process. In the other lanes, each worker runs all its files in one process, which loads the program once. */
const ISOLATED: readonly Lane[] = ['alone', 'random', 'faults', 'random-faults', 'real'];

/**
 * Returns the settings of a lane. Lanes with faults run last, because an injected fault must not affect other tests. @param maxWorkers maximum number of
 * workers. Each worker may have an embedded database of 1 GB
 */
function project(name: Lane, order: number, maxWorkers: number) {
  const isolate = ISOLATED.includes(name);
  return { test: { name, include: [...files[name]], testTimeout: 300_000, hookTimeout: 300_000, sequence: { groupOrder: order }, maxWorkers, isolate } };
}

/**
 * Sorts the test files by lane, so that the next file of a worker can use the same process. Short files are last, so that all workers end at almost the same
 * time.
 */
class LaneByLane extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const order = Object.keys(projects);
    return (await super.sort(specifications)).sort((one, other) => order.indexOf(one.project.name) - order.indexOf(other.project.name));
  }
}

/** Number of workers: one more than cores, because workers also wait for the database server and for child processes. */
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
    // With this cache, a second run of the unit tests takes a seventh less CPU time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LaneByLane },
    globalSetup: ['test/harness/global-setup.ts'],
    reporters: ['default', new Summary()],
    projects: Object.values(projects),
  },
});
