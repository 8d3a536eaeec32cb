/**
 * Stops a run exactly at the beginning or end of a step, or at the end of a member (a file, or an entry of a zip). A trigger on the ledger waits for a lock
 * that the test holds, so the program needs no change. PostgreSQL only.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Machine } from './machine.ts';

/** Beginning or end of a step. `nameOf` returns a name such as `stage of dpc_seismic 2025 begins`. */
export interface Boundary {
  readonly step: string;
  readonly subject: string;
  readonly edge: 'begins' | 'ends';
}

export function nameOf({ step, subject, edge }: Boundary): string {
  return `${step} of ${subject} ${edge}`;
}

/** Name of the gate at the end of a member, when the member's rows are in an open COPY. */
export const IN_COPY = 'a member was read';

export class Gate {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  /** @param url URL of a migrated database */
  static async open(url: string): Promise<Gate> {
    const client = new pg.Client({ connectionString: url, application_name: 'faults' });
    client.on('error', () => undefined);
    await client.connect();
    await client.query(`
      create schema if not exists faults;
      create or replace function faults.at_step() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock_shared(4711, hashtext(new.step || ' of ' || new.subject || case tg_op when 'INSERT' then ' begins' else ' ends' end));
        return null;
      end $$;
      create or replace function faults.at_member() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock_shared(4711, hashtext('${IN_COPY}'));
        return null;
      end $$;
      create or replace trigger faults after insert or update on ledger.step for each row execute function faults.at_step();
      create or replace trigger faults after update on ledger.member for each row execute function faults.at_member();`);
    return new Gate(client);
  }

  async shut(name: string): Promise<void> {
    await this.#client.query('select pg_advisory_lock(4711, hashtext($1))', [name]);
  }

  async lift(name: string): Promise<void> {
    await this.#client.query('select pg_advisory_unlock(4711, hashtext($1))', [name]);
  }

  /** Lets every run pass that arrives later at any gate. A run that already waits at a closed gate waits until `lift`. */
  async letLaterPass(): Promise<void> {
    for (const name of ['at_step', 'at_member']) {
      await this.#client.query(`create or replace function faults.${name}() returns trigger language plpgsql as $$ begin return null; end $$`);
    }
  }

  /** Waits until a run waits at a closed gate. @returns false if the run ended without waiting at the gate */
  async reached(machine: Machine): Promise<boolean> {
    while (!machine.over) {
      const { rows } = await this.#client.query("select from pg_locks where locktype = 'advisory' and classid = 4711 and not granted and database = (select oid from pg_database where datname = current_database())");
      if (rows.length > 0) return true;
      await sleep(15);
    }
    return false;
  }

  /** Returns the process ids of the program's backends. @param pattern regular expression that the last statement of a backend must match */
  async backends(pattern: string): Promise<number[]> {
    const { rows } = await this.#client.query<{ pid: number }>(
      "select pid from pg_stat_activity where application_name = 'mappale' and datname = current_database() and query ~* $1 order by pid", [pattern],
    );
    return rows.map(({ pid }) => pid);
  }

  async terminate(pid: number): Promise<void> {
    await this.#client.query('select pg_terminate_backend($1)', [pid]);
  }

  async close(): Promise<void> {
    await this.#client.end().catch(() => undefined);
  }
}
