/** Tests `parcel --stdin`, which reads many parcels from standard input. Each line, even a malformed one, gets one answer, in the order of the lines. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { findEver, findParcel } from '../../cli/parcel-id.ts';
import { answerLines, linesOf } from '../../cli/parcel-stream.ts';
import { ROOT } from '../../pipelines/config.ts';
import { SECTION_NAMES } from '../../pipelines/contract/sections.ts';
import type { Reader } from '../../pipelines/db/reader.ts';
import type { Context } from '../../pipelines/run/context.ts';
import { regionService, type Service } from '../api/harness.ts';
import { describeDatabase } from '../harness/database.ts';
import { childEnvironment } from '../harness/environment.ts';
import { loadedRegion, REGIONS } from '../harness/loaded-region.ts';

async function split(...chunks: readonly (string | Buffer)[]): Promise<string[]> {
  const lines: string[] = [];
  for await (const each of linesOf(Readable.from(chunks.map((chunk) => Buffer.from(chunk as string))))) lines.push(...each.map(({ input, isCut }) => (isCut ? `${input.length} cut` : input)));
  return lines;
}

describe('the lines of parcel --stdin', () => {
  it('include empty lines, and lose their line ends (LF or CRLF) and outer spaces', async () => {
    expect(await split('a\n\r\n\n b \r\n')).toEqual(['a', '', '', 'b']);
  });
  it('are joined across chunks, and the last line needs no line end', async () => {
    expect(await split('a', 'b\nc\r', '\nd')).toEqual(['ab', 'c', 'd']);
  });
  it('are an empty list if the input is empty', async () => {
    expect(await split('')).toEqual([]);
  });
  it('are truncated to 1,024 bytes', async () => {
    expect(await split('a\n', 'x'.repeat(1_000_000), '\nb\n')).toEqual(['a', '1024 cut', 'b']);
  });
  it('contain the replacement character in place of invalid UTF-8', async () => {
    expect(await split(Buffer.from([0x61, 0xff, 0x0a]))).toEqual(['a\ufffd']);
  });
});

it('parcel --stdin reads no further while its output is not read', async () => {
  let read = 0;
  async function* endless(): AsyncGenerator<Buffer> {
    for (;;) {
      read += 1;
      yield Buffer.from('x\n'.repeat(100));
    }
  }
  const nobody = new Writable({ highWaterMark: 1000, write: () => undefined });
  const reader = { parallel: 4, call: async () => ({ answer: null, fid: null, successors: null }) } as unknown as Reader;
  void answerLines(reader, endless(), nobody, []);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(read).toBe(1);
});

describeDatabase('parcel --stdin', (engine) => {
  let service: Service;
  let parcels: readonly { readonly fid: number; readonly reference: string }[];

  beforeAll(async () => {
    service = await regionService(engine);
    parcels = await service.database.query('select fid, reference from core.parcel where fid > 0 order by fid limit 50');
  });

  async function answers(input: string): Promise<{ readonly missing: number; readonly lines: readonly Record<string, unknown>[] }> {
    let written = '';
    const output = new Writable({
      write(chunk, _encoding, done) {
        written += String(chunk);
        done();
      },
    });
    const missing = await answerLines(service.reader, Readable.from([Buffer.from(input)]), output, SECTION_NAMES);
    return { missing, lines: written.split('\n').slice(0, -1).map((line) => JSON.parse(line) as Record<string, unknown>) };
  }

  it('answers fids and references in order, with the record that api.parcel returns', async () => {
    const { missing, lines } = await answers(parcels.map(({ fid, reference }, index) => `${index % 2 === 0 ? fid : reference}\n`).join(''));
    expect(missing).toBe(0);
    expect(lines.map(({ fid }) => fid)).toEqual(parcels.map(({ fid }) => fid));
    const records = await service.database.query<{ record: unknown }>(
      'select api.parcel(fid, $2) as record from unnest($1::int4[]) as asked (fid) order by fid', [parcels.map(({ fid }) => fid), SECTION_NAMES],
    );
    expect(lines).toEqual(records.map(({ record }) => record));
  });

  it('answers a line that names no parcel with the line and the error, and continues', async () => {
    const { fid } = parcels[0]!;
    const { missing, lines } = await answers(`nothing\n\n${fid}\n1399999999\nA'\0\n${'9'.repeat(2000)}\n${fid}\n`);
    expect(missing).toBe(5);
    expect(lines.map(({ input = null, error = null, fid: found = null }) => [input === null ? null : String(input).slice(0, 10), error, found])).toEqual([
      ['nothing', 'NOT_FOUND', null], ['', 'NOT_FOUND', null], [null, null, fid], ['1399999999', 'NOT_FOUND', null], ["A'\0", 'NOT_FOUND', null],
      ['9999999999', 'LINE_TOO_LONG', null], [null, null, fid],
    ]);
  });

  it('finds a reference in any case, and answers the reference of a retired parcel with GONE and the successor', async () => {
    const { database } = service;
    const [lettered] = await database.query<{ fid: number; reference: string }>("select fid, reference from core.parcel where label ~ '^[0-9]+[A-Z]$' order by fid limit 1");
    const { fid, reference } = lettered!;
    await database.query(
      "insert into core.parcel_register (region_code, reference, fid, retired_on, successor_fid) values (14, 'Z001_009900.1', 1499999998, date '2026-01-01', $1)", [fid],
    );
    try {
      const { missing, lines } = await answers(`${reference.toLowerCase()}\ncadastralparcel.it.age.pla.${reference.toLowerCase()}\nz001_009900.1\nz001_009900.2\n`);
      expect([missing, lines.map(({ fid: found = null, error = null }) => [found, error])]).toEqual([2, [[fid, null], [fid, null], [null, 'GONE'], [null, 'NOT_FOUND']]]);
      expect(lines[2]!['detail']).toContain(String(fid));
      const context = { database } as unknown as Context;
      expect(await findParcel(context, reference.toLowerCase())).toBe(fid);
      expect(await findEver(context, 'z001_009900.1')).toBe(1_499_999_998);
      await expect(findParcel(context, 'Z001_009900.1')).rejects.toMatchObject({ code: 'GONE', fix: `npx mappale parcel ${fid}` });
    } finally {
      await database.query('delete from core.parcel_register where fid = 1499999998');
    }
  });

  /** Starts the program. An embedded database allows one process at a time, so on that engine the program uses a copy of the database. */
  async function start(): Promise<ReturnType<typeof spawn>> {
    const url = engine.name === 'pglite' ? await loadedRegion(engine, ...REGIONS.usual) : service.url;
    return spawn(process.execPath, [join(ROOT, 'pipelines/mappale.mjs'), 'parcel', '--stdin', '--include', 'basic'], { env: childEnvironment({ DATABASE_URL: url }), stdio: 'pipe' });
  }

  it('answers each line before the next line arrives, and exits with 3 if a parcel was not found', async () => {
    const child = await start();
    const lines = createInterface({ input: child.stdout! });
    const stderr = text(child.stderr!);
    child.stdin!.write(`${parcels[0]!.fid}\n`);
    const [record] = await Promise.race([once(lines, 'line'), stderr.then((found) => [found])]) as [string];
    expect(JSON.parse(record)).toMatchObject({ fid: parcels[0]!.fid });
    child.stdin!.write('nothing\n');
    const [missing] = await once(lines, 'line') as [string];
    expect(JSON.parse(missing)).toMatchObject({ input: 'nothing', error: 'NOT_FOUND' });
    child.stdin!.end();
    expect((await once(child, 'exit'))[0]).toBe(3);
  });

  it('ends without an error if the reader of its output closes the pipe', async () => {
    const child = await start();
    const stderr = text(child.stderr!);
    child.stdin!.on('error', () => undefined);
    child.stdout!.once('data', () => child.stdout!.destroy());
    child.stdin!.end(`${parcels[0]!.fid}\n`.repeat(5000));
    expect((await once(child, 'exit'))[0]).toBe(0);
    expect(await stderr).toBe('');
  });
});
