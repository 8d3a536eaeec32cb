/** Tests that reading the cadastre with threads gives the same members, rows, rejects and errors as without threads, in the same order. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { MappaleError } from '../../pipelines/errors.ts';
import type { Source } from '../../pipelines/contract/source.ts';
import { writeZip, zipStream, type ZipEntry } from '../../pipelines/synthetic/zip-writer.ts';
import { SILENT } from '../../pipelines/log.ts';
import { registerSource } from '../../pipelines/contract/registry.ts';
import { locate } from '../../pipelines/ingest/locate.ts';
import { stage } from '../../pipelines/ingest/stage.ts';
import { migrate } from '../../pipelines/db/migrate.ts';
import { readIn } from './read.ts';
import source from './source.ts';
import { collect, inputFile, type Collected } from '../../test/harness/collect.ts';
import { describeDatabase } from '../../test/harness/database.ts';
import { temporaryFolder } from '../../test/harness/temporary-folder.ts';

const FIXTURES = fileURLToPath(new URL('./fixture/', import.meta.url));
const ZIPS = readdirSync(FIXTURES).filter((name) => name.endsWith('.zip'));

const folder = temporaryFolder();
let region: string;
beforeAll(async () => {
  region = join(folder, 'MOLISE.zip');
  await writeRegion(region, [50, 45_000, 3, 1, 2_000, 2_000, 700, 0, 12]);
});

/** Writes one comune for each given number of parcels. Some of the parcels are rejected. */
async function writeRegion(path: string, sizes: readonly number[]): Promise<void> {
  await writeZip(path, [province(sizes)]);
}

function province(sizes: readonly number[]): ZipEntry {
  const modified = '2026-07-01';
  return ['CB.zip', zipStream(sizes.map((size, index): ZipEntry => {
    const code = `Z${String(index + 1).padStart(3, '0')}`;
    return [`${code}_INVENTATO.zip`, zipStream([[`${code}_INVENTATO_ple.gml`, document(code, size), { modified }]]), { modified, level: index % 2 }];
  })), { modified }];
}

function* document(code: string, size: number): Generator<string> {
  yield '<?xml version="1.0" encoding="UTF-8"?>\n<wfs:FeatureCollection xmlns:CP="http://mapserver.gis.umn.edu/mapserver" xmlns:gml="http://www.opengis.net/gml/3.2" xmlns:wfs="http://www.opengis.net/wfs/2.0">\n';
  for (let i = 1; i <= size; i += 1) {
    const reference = `${code}_000100.${i}`;
    const id = `CadastralParcel.IT.AGE.PLA.${reference}`;
    const south = (41 + i / 1e5).toFixed(8);
    const north = (41.0001 + i / 1e5).toFixed(8);
    yield `<wfs:member><CP:CadastralParcel gml:id="${id}"><gml:boundedBy><gml:Envelope srsName="urn:ogc:def:crs:EPSG::6706"><gml:lowerCorner>41.0 14.0</gml:lowerCorner>`
      + `<gml:upperCorner>42.0 15.0</gml:upperCorner></gml:Envelope></gml:boundedBy><CP:msGeometry><gml:Polygon gml:id="${id}.1" srsName="urn:ogc:def:crs:EPSG::6706"><gml:exterior>`
      + `<gml:LinearRing><gml:posList srsDimension="2">${south} 14.00000000 ${south} 14.10000000 ${north} 14.10000000 ${south} 14.00000000 </gml:posList></gml:LinearRing></gml:exterior>`
      + `</gml:Polygon></CP:msGeometry><CP:INSPIREID_LOCALID>IT.AGE.PLA.${reference}</CP:INSPIREID_LOCALID><CP:INSPIREID_NAMESPACE>IT.AGE.PLA.</CP:INSPIREID_NAMESPACE>`
      + `<CP:LABEL>${i % 2000 === 10 ? 'X' : i}</CP:LABEL><CP:NATIONALCADASTRALREFERENCE>${reference}</CP:NATIONALCADASTRALREFERENCE>`
      + `<CP:ADMINISTRATIVEUNIT>${code}</CP:ADMINISTRATIVEUNIT></CP:CadastralParcel></wfs:member>\n`;
  }
  yield '</wfs:FeatureCollection>\n';
}

const readBy = (threads: number): Source => ({ ...source, read: (file, sink) => readIn(threads, file, sink) });

interface Outcome extends Pick<Collected, 'members' | 'rows'> {
  readonly failure: Record<string, unknown> | null;
}

/** Returns the data of the completed members, and the failure. Omits the rows of a member that failed, because their number varies between runs. */
async function outcome(threads: number, path: string, unthreadedBytes = 0): Promise<Outcome> {
  let failure: Outcome['failure'] = null;
  const collected = await collect({
    ...source,
    read: async (file, sink) => {
      try {
        await readIn(threads, file, sink, unthreadedBytes);
      } catch (error) {
        if (!(error instanceof MappaleError)) throw error;
        failure = { ...error.toJSON(), kind: error.kind };
      }
    },
  }, path, { role: 'regione' });
  const members = collected.members.filter(({ records }) => records !== null);
  const whole = new Set(members.map(({ memberId }) => memberId));
  const rows = Object.fromEntries(Object.entries(collected.rows).map(([table, each]) => [table, each.filter((row) => whole.has(row['member_id'] as number))]));
  return { members, rows, failure };
}

describe('a zip of the cadastre', () => {
  it.each(ZIPS)('gives the same result with and without a thread: %s', async (name) => {
    expect(await outcome(1, join(FIXTURES, name))).toEqual(await outcome(0, join(FIXTURES, name)));
  });

  it.each([2, 3])('gives the same result for comuni of all sizes with %i threads', async (threads) => {
    const alone = await outcome(0, region);
    expect(alone.members.map(({ records }) => records)).toEqual([50, 45_000, 3, 1, 2_000, 2_000, 700, 0, 12]);
    expect(alone.members.map(({ rejects }) => rejects.length)).toEqual([1, 23, 0, 0, 1, 1, 1, 0, 1]);
    expect(alone.members[1]!.rejects[22]!.message).toMatch(/^expected LABEL 44010 as in .* \(line 44012, column \d+\)$/);
    const threaded = await outcome(threads, region);
    expect(threaded.members).toEqual(alone.members);
    // The buffers are compared as text, which finds a difference among a hundred thousand buffers within a second.
    const text = (rows: Collected['rows']): string => JSON.stringify(rows, (_key, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value));
    expect(text(threaded.rows) === text(alone.rows)).toBe(true);
  });

  it.each([[2, 0], [0, Infinity]])('is read with %i threads and the same result if the calling thread reads the first %d bytes of documents', async (expected, unthreadedBytes) => {
    const path = join(folder, `${expected}-threads.zip`);
    await writeZip(path, [province([50, 2000, 20])]);
    let started = 0;
    const count = (): void => void (started += 1);
    process.on('worker', count);
    const read = await outcome(2, path, unthreadedBytes);
    process.off('worker', count);
    expect(started).toBe(expected);
    expect(read).toEqual(await outcome(0, path));
  });

  it('gives the same result if threads start after the first documents', async () => {
    const path = join(folder, 'later-threads.zip');
    await writeZip(path, [province([50, 2000, 20, 300, 40])]);
    const { size } = await inputFile(path, { role: 'regione' });
    expect(await outcome(2, path, size / 2)).toEqual(await outcome(0, path));
  });

  it('is read up to an unknown entry, and the entry is reported as an error', async () => {
    const path = join(folder, 'with-a-page.zip');
    await writeZip(path, [province([50, 3, 20]), ['README.txt', 'not of the publisher']]);
    const threaded = await outcome(2, path);
    expect(threaded.failure).toMatchObject({ error: 'ENTRY_UNEXPECTED', at: 'with-a-page.zip!README.txt' });
    expect(threaded.members).toHaveLength(3);
    expect(threaded).toEqual(await outcome(0, path));
  });

  it('is not read if its members are already loaded, not even in advance by a thread', async () => {
    const opened: string[] = [];
    const asked: string[] = [];
    const reported: number[] = [];
    const file = await inputFile(region, { role: 'regione' });
    await readIn(2, file, {
      reusable: () => true,
      reuse: async ({ path }) => asked.push(path) > 0,
      member: ({ path }) => {
        opened.push(path);
        return Promise.reject(new Error('expected that no member is opened'));
      },
      progress: (bytes) => reported.push(bytes),
    });
    expect(opened).toEqual([]);
    expect(asked).toHaveLength(9);
    expect(reported).toEqual([...reported].sort((a, b) => a - b));
    expect(reported.at(-1)).toBeLessThanOrEqual(file.size);
  });
});

describeDatabase('staging by threads', (engine) => {
  it('stores the same rows, rejects and counts of each member, in the same order, as without threads', async () => {
    const database = await engine.openDatabase();
    const registered = await registerSource('ade_cadastre');
    await migrate(database, [registered]);
    const staged = async (threads: number): Promise<unknown> => {
      const survey = await locate([region], [{ ...registered, ...readBy(threads) }], { get: () => undefined, set: () => undefined });
      const { schema, releaseId } = await stage(database, survey.releases[0]!, `by ${threads}`, () => undefined, SILENT);
      const members = await database.query<{ id: number }>(
        'select member_id as id, path, records, rows, rejects, duplicates from ledger.member where release_id = $1 order by member_id', [releaseId],
      );
      const first = members[0]!.id;
      const [rows] = await database.query(
        `select count(*) as rows, md5(string_agg((member_id - $1)::text || ' ' || position || ' ' || reference || ' ' || md5(geom::text), ',' order by ctid)) as digest from ${schema}.raw_parcel`, [first],
      );
      const rejects = await database.query('select member_id - $2 as member, position, code, message from ledger.reject where release_id = $1 order by reject_id', [releaseId, first]);
      return { rows, rejects, members: members.map((member) => ({ ...member, id: member.id - first })) };
    };
    const alone = await staged(0);
    expect(alone).toMatchObject({ rows: { rows: 49_738 } });
    expect(await staged(2)).toEqual(alone);
  });
});
