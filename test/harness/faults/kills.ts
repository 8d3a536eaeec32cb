/**
 * Kills the program with SIGKILL at every step boundary and at random moments, several times before a run finishes. The publication stays complete after each
 * kill. When a run finishes, the database has exactly the content of an undisturbed database.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Database } from '../../../pipelines/db/index.ts';
import { randomOf } from '../../../pipelines/synthetic/random.ts';
import { describeEngines, type TestEngine } from '../database.ts';
import { testEnvironment, type EngineName } from '../environment.ts';
import { Gate, nameOf, type Boundary } from './gate.ts';
import { Machine, mappale, succeeded } from './machine.ts';
import { everPublished, currentContent, orphans, recount, withDatabase } from '../published.ts';
import { FEW_SOURCES, smallRegion, type Region } from './region.ts';

const { kills: WANTED, seed } = testEnvironment();
/** Number of kills on the embedded database as a share of the number on PostgreSQL. The embedded database opens slowly. */
const EMBEDDED_SHARE = 0.14;
/** Time limit in ms, long enough for a busy machine. */
const PATIENCE = 1_800_000;

/** Two databases with the same files, which are compared. Runs on `calm` are undisturbed, and runs on `struck` are killed. */
class Pair {
  readonly calm: string;
  readonly struck: string;
  kills = 0;
  /** Current content and history of the undisturbed database. */
  #calm: Record<string, string> = {};
  /** Duration of the last undisturbed run in ms. Random moments are drawn within this time. */
  duration = 0;
  /** Every fid that a killed or finished run has assigned, by cadastral reference. */
  readonly #given = new Map<string, number>();

  private constructor(calm: string, struck: string) {
    this.calm = calm;
    this.struck = struck;
  }

  static async of(engine: TestEngine): Promise<Pair> {
    return new Pair(await engine.createDatabase(), await engine.createDatabase());
  }

  /** Runs the program undisturbed. @returns the run's step boundaries in order */
  async inPeace(folder: string, parallel: number): Promise<Boundary[]> {
    const startedAt = performance.now();
    const ended = await mappale(this.calm, 'refresh', 'molise', '--data', folder, '--accept', 'a test', '--parallel', String(parallel));
    this.duration = performance.now() - startedAt;
    succeeded(ended);
    return withDatabase(this.calm, async (database) => {
      this.#calm = await everPublished(database);
      const steps = await database.query<{ step: string; subject: string }>('select step, subject from ledger.step where run_id = (select max(run_id) from ledger.run) order by step_id');
      return steps.flatMap(({ step, subject }) => (['begins', 'ends'] as const).map((edge) => ({ step, subject, edge })));
    });
  }

  start(folder: string, parallel: number): Machine {
    return new Machine(this.struck, ['refresh', 'molise', '--data', folder, '--accept', 'a test', '--parallel', String(parallel)]);
  }

  /** Checks that the tables match the ledger after a kill, and that Italy and the region each have either the earlier or the new publication and history. */
  async stillWhole(before: Record<string, string>, when: string): Promise<void> {
    await withDatabase(this.struck, async (database) => {
      expect(await recount(database), `${when}: tables compared with the ledger`).toEqual(await currentContent(database));
      const listed = await everPublished(database);
      // A publication that was committed before the kill replaces a region or Italy as a whole.
      for (const region of ['0', '14']) {
        const of = (all: Record<string, string>): string => JSON.stringify(Object.entries(all).filter(([key]) => key.startsWith(`${region} `)).sort());
        expect([of(before), of(this.#calm)], `${when}: region ${region}`).toContain(of(listed));
      }
      await this.#keepsFids(database, when);
    });
  }

  /** Checks that no fid is assigned twice, and that a fid from an earlier or interrupted run is reused only for the same cadastral reference. */
  async #keepsFids(database: Database, when: string): Promise<void> {
    // A database whose creation was interrupted has no register yet.
    const [register] = await database.query("select from pg_class where oid = to_regclass('core.parcel_register')");
    const rows = register === undefined ? [] : await database.query<{ reference: string; fid: number }>('select reference, fid from core.parcel_register');
    expect(new Set(rows.map(({ fid }) => fid)).size, `${when}: fids that were assigned twice`).toBe(rows.length);
    const now = new Map(rows.map(({ reference, fid }) => [reference, fid]));
    const changed = [...this.#given].filter(([reference, fid]) => now.has(reference) ? now.get(reference) !== fid : rows.some((row) => row.fid === fid));
    expect(changed, `${when}: fids that were reused for other references`).toEqual([]);
    for (const [reference, fid] of now) this.#given.set(reference, fid);
  }

  /** Runs the program on `struck` until it exits, and checks that the database then has the same content as `calm`. */
  async recover(folder: string): Promise<void> {
    const ended = await mappale(this.struck, 'refresh', 'molise', '--data', folder, '--accept', 'a test');
    succeeded(ended);
    await withDatabase(this.struck, async (database) => {
      expect(Object.keys(this.#calm).length).toBeGreaterThan(15);
      expect(await everPublished(database)).toEqual(this.#calm);
      expect(await recount(database)).toEqual(await currentContent(database));
      await this.#keepsFids(database, 'after the last run');
      expect(await orphans(database)).toEqual([]);
      const [open] = await database.query<{ n: number }>('select count(*) as n from ledger.run where ended_at is null');
      expect(open!.n).toBe(0);
    });
  }
}

/** Starts a run for each boundary, and kills the run when it reaches the boundary. @returns the names of the reached boundaries */
async function walk(pair: Pair, gate: Gate, folder: string, boundaries: readonly Boundary[], before: Record<string, string>): Promise<string[]> {
  const killed: string[] = [];
  for (const boundary of boundaries) {
    const name = nameOf(boundary);
    await gate.shut(name);
    const machine = pair.start(folder, 1);
    const stopped = await gate.reached(machine);
    await machine.kill();
    await gate.lift(name);
    if (!stopped) continue;
    pair.kills += 1;
    killed.push(name);
    await pair.stillWhole(before, name);
  }
  return killed;
}

/** Declares the suite for one engine. Each engine has its own test file, so that both files run in parallel. */
export const killRuns = (engineName: EngineName): void => describeEngines('a run that is killed', (engine) => {
  let region: Region;
  let pair: Pair;
  const target = engine.name === 'postgres' ? WANTED : Math.ceil(WANTED * EMBEDDED_SHARE);
  const random = randomOf('kills', engine.name, seed);
  beforeAll(async () => {
    // On the server, every source is tested. Fewer sources suffice on the embedded database, which differs only in opening and closing.
    region = await smallRegion(engine.name === 'pglite' ? FEW_SOURCES : undefined);
    pair = await Pair.of(engine);
  });
  afterAll(() => region.remove());

  it('leaves no partial publication if the kill is during the first load, and the next run finishes the load', async () => {
    const folder = await region.version(0);
    await pair.inPeace(folder, 2);
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const machine = pair.start(folder, 2);
      await sleep(pair.duration * (0.2 + 0.5 * random.next()));
      if ((await machine.kill()).code === null) pair.kills += 1;
      await pair.stillWhole({}, 'first load');
    }
    await pair.recover(folder);
  }, PATIENCE);

  // The gate needs a lock held by another connection. The embedded database allows only one connection.
  if (engine.name === 'postgres') it('is continued by the next run if the kill is at the beginning or end of any step of a refresh', async () => {
    const folder = await region.version(1);
    const boundaries = await pair.inPeace(folder, 1);
    expect(boundaries.map(({ step }) => step)).toEqual(expect.arrayContaining(['recover', 'stage', 'load', 'join', 'check', 'gate', 'publish']));
    const gate = await Gate.open(pair.struck);
    try {
      const before = await withDatabase(pair.struck, everPublished);
      const killed = await walk(pair, gate, folder, boundaries, before);
      // The runs reach every boundary one after another, because only unfinished steps are repeated.
      expect(killed).toEqual(boundaries.map(nameOf));
    } finally {
      await gate.close();
    }
    await pair.recover(folder);
  }, PATIENCE);

  it('is continued by the next run if the kill is at a random moment', async () => {
    // The kills of the earlier tests are not at random moments of a refresh, so at least one more kill is needed.
    const wanted = Math.max(1, target - pair.kills);
    let kills = 0;
    for (let number = 2; kills < wanted; number += 1) {
      const folder = await region.version(number);
      await pair.inPeace(folder, 2);
      const before = await withDatabase(pair.struck, everPublished);
      for (let attempt = 0; attempt < 8 && kills < wanted; attempt += 1) {
        const machine = pair.start(folder, 2);
        await Promise.race([sleep(pair.duration * (0.25 + 0.75 * random.next())), machine.ended]);
        if ((await machine.kill()).code !== null) break;
        kills += 1;
        await pair.stillWhole(before, `version ${number}, attempt ${attempt}`);
      }
      await pair.recover(folder);
    }
  }, PATIENCE);
}, [engineName]);
