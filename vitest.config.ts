import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { lanes, LONGEST, type Lane } from './test/harness/lanes.ts';
import Summary from './test/harness/summary.ts';

const files = lanes(import.meta.dirname);

/**
 * Lanes in the order in which their files start. The short files of `unit` are last, so that all workers end at almost the same time. Each file of `alone` has
 * a separate process. In the other lanes, each worker runs all its files in one process, which loads the program once.
 */
const ORDER: readonly Lane[] = ['random', 'random-faults', 'faults', 'real', 'alone', 'database', 'unit'];

/** Number of workers: one more than cores, at most 8. Workers also wait for the database server and for child processes. */
const workers = Math.min(8, availableParallelism() + 1);

/**
 * Options of `expect.poll`. The timeout is long, because the machine may be busy. Some polls count the pixels of a map, which is slow, so the interval is
 * 200 ms.
 */
const POLL = { timeout: 120_000, interval: 200 };

/** Returns the settings of a lane. Each worker may have an embedded database of 1 GB. */
function project(name: Lane) {
  return {
    test: {
      name, include: [...files[name]], testTimeout: 900_000, hookTimeout: 900_000, expect: { poll: POLL }, maxWorkers: workers, isolate: name === 'alone',
    },
  };
}

/** Sorts the test files by lane, so that the next file of a worker can use the same process. The longest files of a lane are first. */
class LaneByLane extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const lane = ({ project: { name } }: TestSpecification): number => ORDER.indexOf(name as Lane);
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = LONGEST.indexOf(relative(import.meta.dirname, moduleId));
      return index === -1 ? LONGEST.length : index;
    };
    return (await super.sort(specifications)).sort((one, other) => lane(one) - lane(other) || rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // With this cache, a second run of the unit tests takes a seventh less CPU time.
    experimental: { fsModuleCache: true },
    sequence: { sequencer: LaneByLane },
    globalSetup: ['test/harness/global-setup.ts'],
    reporters: ['default', new Summary()],
    projects: ORDER.map(project),
  },
});
