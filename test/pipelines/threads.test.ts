/** Tests readers in threads. A failure in a thread must become an error with its location, and no thread may use unlimited memory. */
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import { RowWriter } from '../../pipelines/formats/copy.ts';
import type { MemberSink, Sink } from '../../pipelines/contract/source.ts';
import { Threads } from '../../pipelines/formats/threads.ts';
import { replay, type SinkMessage } from '../../pipelines/readers/threaded-sink.ts';
import type { Misbehaviour } from '../harness/thread-that-misbehaves.ts';

const MODULE = new URL('../harness/thread-that-misbehaves.ts', import.meta.url);

let pool: Threads<Misbehaviour, SinkMessage> | null = null;
afterEach(async () => {
  await pool?.close();
  pool = null;
});

/** Returns a sink that accepts everything and records the paths of the members. */
function taking(onChunk: (chunk: Buffer) => void = () => undefined, drain: () => Promise<void> | undefined = () => undefined): Pick<Sink, 'member'> & { readonly paths: string[] } {
  const paths: string[] = [];
  const writer = new RowWriter({ a: 'int4' }, onChunk);
  return {
    paths,
    async member({ path }): Promise<MemberSink> {
      paths.push(path);
      return { memberId: 1, writer: () => writer, row() {}, reject() {}, duplicate() {}, added() {}, drain, async close() {} };
    },
  };
}

const failure = (work: Promise<void>): Promise<unknown> => work.then(() => null, (error: unknown) => error);

it.each(['exits', 'throws later'] as const)('the error names the file if a thread %s', async (what) => {
  pool = new Threads(MODULE, 2);
  const [first, second, third] = [pool.start('writes one row', 'a.zip!1'), pool.start(what, 'a.zip!2'), pool.start('writes one row', 'a.zip!3')];
  const sink = taking();
  await replay(first, sink, () => undefined);
  const error = await failure(replay(second, sink, () => undefined));
  expect(error).toBeInstanceOf(MappaleError);
  expect(error).toMatchObject({ code: 'THREAD_ENDED', kind: 'bug', at: 'a.zip!2', hint: expect.stringMatching(/^Run the same command again/) as string });
  // The remaining thread continues.
  await replay(third, sink, () => undefined);
  expect(sink.paths.filter((path) => path === 'writes one row')).toHaveLength(2);
});

it('reads that wait for a thread fail if no thread is left', async () => {
  pool = new Threads(MODULE, 1);
  const readings = [pool.start('exits', 'a.zip!1'), pool.start('writes one row', 'a.zip!2')];
  for (const [index, reading] of readings.entries()) {
    expect(await failure(replay(reading, taking(), () => undefined))).toMatchObject({ code: 'THREAD_ENDED', at: `a.zip!${index + 1}`, detail: expect.stringContaining('exit code 7') as string });
  }
  expect(await failure(replay(pool.start('writes one row', 'a.zip!3'), taking(), () => undefined))).toMatchObject({ code: 'THREAD_ENDED', at: 'a.zip!3' });
});

it('a module that cannot be loaded is reported', async () => {
  pool = new Threads(pathToFileURL(fileURLToPath(new URL('../harness/no-such-module.ts', import.meta.url))), 2);
  expect(await failure(replay(pool.start('writes one row', 'a.zip!1'), taking(), () => undefined))).toMatchObject({ code: 'THREAD_ENDED', detail: expect.stringContaining('no-such-module') as string });
});

it('the error of a bug in a thread keeps its class, message and stack', async () => {
  pool = new Threads(MODULE, 1);
  const error = await failure(replay(pool.start('fails with a bug', 'a.zip!1'), taking(), () => undefined));
  expect(error).toBeInstanceOf(TypeError);
  expect((error as Error).message).toBe('no such thing in thread true');
  expect((error as Error).stack).toContain('thread-that-misbehaves');
});

it('a thread waits until the sink has written its rows, and the read fails with the error of the sink', async () => {
  pool = new Threads(MODULE, 1);
  const reading = pool.start('writes without end', 'a.zip!1');
  let taken = 0;
  let most = 0;
  let baseline = 0;
  const sink = taking((chunk) => {
    taken += chunk.length;
    baseline ||= process.memoryUsage().rss;
    most = Math.max(most, process.memoryUsage().rss);
  }, async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (taken > 20_000_000) throw new Error('enough');
  });
  expect(await failure(replay(reading, sink, () => undefined))).toMatchObject({ message: 'enough' });
  // Without waiting, the thread would write hundreds of MB in a second.
  expect((most - baseline) / 1e6).toBeLessThan(100);
});
