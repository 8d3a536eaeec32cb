/** Thread for tests of `formats/threads.ts`. The task names the thread's behaviour, which is a failure in most cases. */
import { threadId } from 'node:worker_threads';
import { serveReader } from '../../pipelines/readers/threaded-sink.ts';

export type Misbehaviour = 'exits' | 'throws later' | 'fails with a bug' | 'writes without end' | 'writes one row';

serveReader<Misbehaviour>({ raw_thing: { a: 'int4' } }, async (task, sink) => {
  const member = await sink.member({ path: task });
  const writer = member.writer('raw_thing');
  switch (task) {
    case 'exits':
      return process.exit(7);
    case 'throws later':
      setTimeout(() => {
        throw new Error('out of the blue');
      });
      return new Promise(() => undefined);
    case 'fails with a bug':
      throw new TypeError(`no such thing in thread ${threadId > 0}`);
    case 'writes without end':
      for (let position = 1; ; position += 1) {
        writer.begin(position);
        writer.int4(position);
        writer.end();
        if (position % 10_000 === 0) await member.drain();
      }
    case 'writes one row':
      member.row('raw_thing', 1, [1]);
      await member.close(1);
  }
});
