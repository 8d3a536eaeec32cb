/** Tests parallel tasks with dependencies. */
import { expect, it } from 'vitest';
import { randomOf } from '../../pipelines/synthetic/random.ts';
import { inParallel, resultsInOrder } from '../../pipelines/parallel.ts';

const soon = (turns: number): Promise<void> => new Promise((resolve) => {
  const next = (left: number): void => {
    if (left === 0) resolve();
    else setImmediate(next, left - 1);
  };
  next(turns);
});

it('each task runs once, after its predecessors, as soon as one of the parallel lanes is free', async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = randomOf('parallel', seed);
    const items = Array.from({ length: random.below(31) }, (_, index) => ({
      index, turns: 1 + random.below(6), after: Array.from({ length: Math.min(index, random.below(4)) }, () => random.below(index)),
    }));
    const most = 1 + random.below(4);
    const ended = new Set<number>();
    const begun = new Set<number>();
    const lanes = new Set<number>();
    const results = await inParallel(most, items, async ({ index, turns, after }, lane) => {
      expect(begun.has(index)).toBe(false);
      expect(after.every((each) => ended.has(each))).toBe(true);
      expect(lanes.has(lane)).toBe(false);
      begun.add(index);
      lanes.add(lane);
      expect(lanes.size).toBeLessThanOrEqual(most);
      expect(lane).toBeLessThan(most);
      await soon(turns);
      // If a lane is free, each waiting task has a predecessor that has not ended.
      if (lanes.size < most) expect(items.filter((each) => !begun.has(each.index) && each.after.every((other) => ended.has(other)))).toEqual([]);
      ended.add(index);
      lanes.delete(lane);
      // The next task starts before the other tasks continue.
      await soon(0);
      return index;
    }, { after: ({ after }) => after.map((index) => items[index]!) });
    expect(ended.size).toBe(items.length);
    expect(results).toEqual(items.map(({ index }) => index));
  }
});

it('no task starts after a failure, and the first error is thrown when all started tasks have ended', async () => {
  const seen: string[] = [];
  const working = inParallel(2, ['slow', 'bad', 'never'], async (name) => {
    seen.push(`${name} begins`);
    if (name === 'bad') throw new Error('stopped here');
    await soon(5);
    seen.push(`${name} ends`);
  });
  await expect(working).rejects.toThrow('stopped here');
  expect(seen).toEqual(['slow begins', 'bad begins', 'slow ends']);
});

it('tasks with a circular dependency are refused', async () => {
  await expect(inParallel(2, [0, 1], () => Promise.resolve(), { after: (item) => [1 - item] })).rejects.toThrow('wait for each other');
});

it('results come in the order of the items, and at most the maximum number of tasks run at a time', async () => {
  for (let seed = 0; seed < 200; seed += 1) {
    const random = randomOf('order', seed);
    const most = 1 + random.below(4);
    const items = Array.from({ length: random.below(12) }, (_, index) => ({ index, turns: random.below(6) }));
    let working = 0;
    const given: number[] = [];
    const results = resultsInOrder(most, items, async ({ index, turns }) => {
      working += 1;
      expect(working).toBeLessThanOrEqual(most);
      await soon(turns);
      working -= 1;
      return index;
    });
    for await (const index of results) given.push(index);
    expect(given).toEqual(items.map(({ index }) => index));
  }
});

it('the error of a task is thrown after the results of all earlier tasks', async () => {
  const given: number[] = [];
  await expect(async () => {
    for await (const index of resultsInOrder(3, [0, 1, 2], (each) => (each === 1 ? Promise.reject(new Error('stopped here')) : Promise.resolve(each)))) given.push(index);
  }).rejects.toThrow('stopped here');
  expect(given).toEqual([0]);
});
