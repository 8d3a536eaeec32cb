import { statementsOf } from './statements.ts';
import { one, type Session } from './types.ts';

const statement = statementsOf('locks');

/** Advisory locks that one connection holds, by name. */
export class Locks {
  readonly #session: Session;
  /** Query that `verify` is running. Concurrent calls share this query, because the connection runs only one query at a time. */
  #asked: Promise<unknown> | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Takes a lock without waiting. @returns false if another connection holds the lock */
  async take(name: string, how: 'alone' | 'shared'): Promise<boolean> {
    return (await one<{ taken: boolean }>(this.#session, statement(how === 'shared' ? 'try_share' : 'try_lock'), [`mappale ${name}`])).taken;
  }

  async wait(name: string, how: 'alone' | 'shared'): Promise<void> {
    await this.#session.query(statement(how === 'shared' ? 'share' : 'lock'), [`mappale ${name}`]);
  }

  async free(name: string): Promise<void> {
    await this.#session.query(statement('unlock'), [`mappale ${name}`]).catch(() => undefined);
  }

  async freeAll(): Promise<void> {
    await this.#asked?.catch(() => undefined);
    await this.#session.query(statement('unlock_all')).catch(() => undefined);
  }

  /** Checks that the connection still exists. @throws MappaleError if the connection was lost, because the server then releases all locks of the connection */
  verify(): Promise<unknown> {
    return (this.#asked ??= this.#session.query(statement('is_alive')).finally(() => (this.#asked = undefined)));
  }
}
