/** The API functions that build a record. The same function texts can also be created over other tables. */
import type { Relation } from '../contract/sql-files.ts';
import { statementsOf } from './statements.ts';
import type { Session } from './types.ts';

const statement = statementsOf('history');

/** Function that builds the record. This function calls all other functions of a record. */
const RECORD = 'parcel_record';

interface Definition extends Record<string, unknown> {
  readonly name: string;
  readonly body: string;
  readonly definition: string;
}

/** A table that a record reads. */
export interface RecordTable extends Record<string, unknown> {
  readonly relation: Relation;
  /** Partition key; null: a national table. */
  readonly split: string | null;
  readonly key: readonly string[];
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** A table after `from` or `join`, but not as the type of a value. */
const READS = /\b(from|join)(\s+)((?:core|section)\.([a-z_0-9]+))\b(?!\s*\()/gi;

/** Returns the names of the tables that a function body reads. */
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

  /** Returns the tables that the functions read. */
  async tables(session: Session): Promise<RecordTable[]> {
    return session.query<RecordTable>(statement('tables'), [[...new Set(this.#functions.flatMap(({ body }) => readsOf(body)))].sort()]);
  }

  /**
   * Returns the text of the functions over other tables.
   * @param schema schema of the copies; they call each other there
   * @param other returns the replacement of a table; null: the table is kept
   * @param more another replacement in the text
   * @returns functions with a replaced table or a match of `more`, and functions that call them; copies of other functions would be identical
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
