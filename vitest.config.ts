import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { lanes, type Lane } from './test/harness/lanes.ts';
import Summary from './test/harness/summary.ts';

const files = lanes(import.meta.dirname);

/**
 * Faults run after all others: what is injected may not hide behind another test. Each worker may hold an embedded database of 1 GB. Unit tests change
 * nothing that others see, so their files share a process, which loads the program once.
 */
function project(name: Lane, order: number, maxWorkers: number) {
  return { test: { name, include: [...files[name]], testTimeout: 300_000, hookTimeout: 300_000, sequence: { groupOrder: order }, maxWorkers, isolate: name !== 'unit' } };
}

const workers = Math.min(8, availableParallelism());

export default defineConfig({
  test: {
    globalSetup: ['test/harness/global-setup.ts'],
    reporters: ['default', new Summary()],
    projects: [project('unit', 0, workers), project('database', 0, workers), project('real', 0, workers), project('faults', 1, 2)],
  },
});
