/** The interface's functions by which a record is made, so that the same text can be made once more over other tables. */
import type { Relation } from '../contract/sql-files.ts';
import { statementsOf } from './statements.ts';
import type { Session } from './types.ts';

const statement = statementsOf('history');

/** Function of the interface from which the others follow. */
const RECORD = 'parcel_record';

interface Definition extends Record<string, unknown> {
  readonly name: string;
  readonly body: string;
  readonly definition: string;
}

/** A table that a record reads. */
export interface RecordTable extends Record<string, unknown> {
  readonly relation: Relation;
  /** By what it is partitioned; null: it is Italy's. */
  readonly split: string | null;
  readonly key: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** A table that is read, other than as the type of a value. */
const READS = /\b(from|join)(\s+)((?:core|section)\.([a-z_0-9]+))\b(?!\s*\()/gi;

/** Names of tables that a text reads. */
const readsOf = (body: string): Relation[] => [...body.matchAll(READS)].map((match) => match[3] as Relation);

/** All functions that a record calls. */
export class RecordFunctions {
  readonly #functions: readonly Definition[];

  private constructor(functions: readonly Definition[]) {
    this.#functions = functions;
  }

  static async of(session: Session): Promise<RecordFunctions> {
    const all = await session.query<Definition>(statement('functions'));
    const reached = new Set([RECORD]);
    for (const name of reached) for (const found of all.filter((each) => each.name === name)) for (const called of callsOf(found)) reached.add(called);
    return new RecordFunctions(all.filter(({ name }) => reached.has(name)));
  }

  /** The tables that they read. */
  async tables(session: Session): Promise<RecordTable[]> {
    return session.query<RecordTable>(statement('tables'), [[...new Set(this.#functions.flatMap(({ body }) => readsOf(body)))].sort()]);
  }

  /**
   * Their text over other tables.
   * @param schema theirs; each calls the others there
   * @param other what stands in the place of a table; null: it stays
   * @param more what else in a text another stands for
   * @returns those that read a table which does not stay, or what `more` finds, or call one that does: of the others nothing would change
   */
  over(schema: string, other: (relation: Relation) => string | null, more: Replacement | null = null): string[] {
    const isOther = ({ body }: Definition): boolean => (
      readsOf(body).some((relation) => other(relation) !== null) || (more !== null && body.search(more.found) >= 0)
    );
    const chosen = new Set(this.#functions.filter(isOther).map(({ name }) => name));
    for (let before = -1; before !== chosen.size;) {
      before = chosen.size;
      for (const each of this.#functions) if (callsOf(each).some((name) => chosen.has(name))) chosen.add(each.name);
    }
    return this.#functions.filter(({ name }) => chosen.has(name)).map(({ definition }) => {
      const read = definition.replace(READS, (found, word: string, space: string, relation: string) => {
        const instead = other(relation as Relation);
        return instead === null ? found : `${word}${space}${instead}`;
      });
      return (more === null ? read : read.replaceAll(more.found, more.instead))
        .replace(CALLS, (found, name: string) => (chosen.has(name) ? `${schema}.${name}` : found));
    });
  }
}

interface Replacement {
  readonly found: RegExp;
  readonly instead: string;
}

const CALLS = /\bapi\.([a-z_0-9]+)(?=\s*\()/g;

function callsOf({ body }: Definition): string[] {
  return [...body.matchAll(CALLS)].map((match) => match[1] ?? '');
}
