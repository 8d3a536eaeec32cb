/** What an endpoint that needs a key is: from tables of them come the routes, the document and the tests. */
import type { z } from 'zod';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Scope } from './access.ts';
import type { ApiError, ErrorCode } from './errors.ts';
import { noParameters } from './parameters.ts';

/** What a function of the database answers. */
export type Answer = {
  /** The publications that the answer depends on. */
  readonly publication: string;
  /** JSON text; null: there is no such thing. */
  readonly answer: string | null;
};

/** What is told of an endpoint. */
export interface Described {
  /** Below the base address; `{id}` is a path parameter. */
  readonly path: string;
  readonly operation: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly description: string;
  readonly parameters: z.ZodObject;
  readonly pathParameters: z.ZodObject;
  readonly answer: z.ZodType;
  /** Media type of the answer; not given: JSON. */
  readonly type?: string;
  /** Errors that only this endpoint has, and the one of what is not there, as an example. */
  readonly errors: readonly ErrorCode[];
  readonly missing?: ApiError;
  /** A query that can be tried, and values of the parameters that do not go with it or need not be there. */
  readonly example: Readonly<Record<string, string>>;
  readonly otherExamples: Readonly<Record<string, string>>;
  /** A query that is refused. */
  readonly refused: Readonly<Record<string, string>>;
  /** When the answer is 204, without a body; not given: it never is. */
  readonly nothing?: string;
}

export interface Endpoint extends Described {
  /** @param given path and query parameters, read @throws ApiError, MappaleError */
  readonly lookup: (reader: Reader, given: Given) => Promise<Answer>;
}

export interface Given {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Base address as the caller sees it, for links; where the caller does not say it, its path alone. */
  readonly base: string;
}

/** What need not be said. */
const NOTHING = { pathParameters: noParameters, errors: [], example: {}, otherExamples: {} };

/** Ties a look-up to the types that its schemas give. */
export function endpoint<Q extends z.ZodObject, P extends z.ZodObject = typeof noParameters>(
  facts: Omit<Endpoint, keyof typeof NOTHING | 'parameters' | 'lookup'> & Partial<Pick<Endpoint, keyof typeof NOTHING>> & {
    parameters: Q; pathParameters?: P; lookup: (reader: Reader, query: z.output<Q>, path: z.output<P>, base: string) => Promise<Answer>;
  },
): Endpoint {
  return { ...NOTHING, ...facts, lookup: (reader, { query, path, base }) => facts.lookup(reader, query as z.output<Q>, path as z.output<P>, base) };
}
