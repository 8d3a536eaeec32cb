import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import Summary from './test/harness/summary.ts';

const faults = 'test/faults/**/*.test.ts';

export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts'],
    reporters: ['default', new Summary()],
    // A fault that is injected may not hide behind another test: faults run last, each file on databases or a server of its own.
    projects: [
      {
        test: {
          name: 'main', include: ['test/**/*.test.ts'], exclude: [faults], testTimeout: 300_000, hookTimeout: 300_000, sequence: { groupOrder: 0 },
          // Each worker may hold an embedded database of 1 GB.
          maxWorkers: Math.min(8, availableParallelism()),
        },
      },
      {
        test: {
          name: 'faults', include: [faults], maxWorkers: 2, testTimeout: 300_000, hookTimeout: 300_000, sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
