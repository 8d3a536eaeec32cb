/** Defines the type of an endpoint. Routes, the OpenAPI document and tests are generated from the tables of endpoints. */
import type { z } from 'zod';
import type { Reader } from '../pipelines/db/reader.ts';
import type { Scope } from './access.ts';
import type { ApiError, ErrorCode } from './errors.ts';
import { noParameters } from './parameters.ts';

/** Answer of an endpoint. Most endpoints return the answer of a database function unchanged. */
export type Answer = {
  /** Identifier of the publications that the answer depends on. Empty: the answer depends on no publication. */
  readonly publication: string;
  /** JSON text; null: the requested object does not exist. */
  readonly answer: string | null;
  /** Headers that only this response has. */
  readonly headers?: Readonly<Record<string, string>>;
};

/** A binary format in which a response can be returned. */
export interface Binary {
  /** Value of the parameter `f` that selects the format. */
  readonly name: string;
  readonly type: string;
  /** Converts the JSON text of an answer to the binary format. The links and licences in the JSON become the header Link. */
  readonly encode: (answer: string, query: Given['query']) => Promise<{ readonly body: Uint8Array; readonly link: string }>;
}

/** Documentation of an endpoint. */
export interface Described {
  /** Path below the base address. A name in braces, such as `{id}`, is a path parameter. */
  readonly path: string;
  readonly operation: string;
  /** Null: the endpoint needs no key. */
  readonly scope: Scope | null;
  readonly summary: string;
  readonly description: string;
  readonly parameters: z.ZodObject;
  readonly pathParameters: z.ZodObject;
  readonly answer: z.ZodType;
  /** Media type of the response. Absent: JSON. */
  readonly type?: string;
  /** Errors in addition to those of every endpoint. `missing` and `gone` are examples of the errors `NOT_FOUND` and `GONE`. */
  readonly errors: readonly ErrorCode[];
  readonly missing?: ApiError;
  readonly gone?: ApiError;
  /** Query of the example, and example values of the parameters that this query omits. */
  readonly example: Readonly<Record<string, string>>;
  readonly otherExamples: Readonly<Record<string, string>>;
  /** Example of an invalid query. */
  readonly refused: Readonly<Record<string, string>>;
  /** Converts the JSON text of an answer to a page for browsers. Absent: browsers get JSON, too. */
  readonly page?: (answer: string) => string;
  /** Second format of the response, which parameter `f` or the header Accept selects. Absent: the response has one format. */
  readonly binary?: Binary;
  /** Additional headers of the response, each with a description and an example. */
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly example: string }>>;
  /** Condition for a 204 response, which has no body. Absent: the endpoint never returns 204. */
  readonly nothing?: string;
}

export interface Endpoint extends Described {
  /** @param given parsed path and query parameters @throws ApiError, MappaleError */
  readonly lookup: (reader: Reader, given: Given) => Promise<Answer>;
}

export interface Given {
  readonly path: Readonly<Record<string, unknown>>;
  readonly query: Readonly<Record<string, unknown>>;
  /** Base URL for links, as the client sees it. If the request has no header Host, the URL is only a path. */
  readonly base: string;
}

/** Defaults of an endpoint. */
const NOTHING = { pathParameters: noParameters, errors: [], example: {}, otherExamples: {} };

/** Creates an endpoint. TypeScript infers the types of `lookup` from the schemas of the endpoint. */
export function endpoint<Q extends z.ZodObject, P extends z.ZodObject = typeof noParameters>(
  facts: Omit<Endpoint, keyof typeof NOTHING | 'parameters' | 'lookup'> & Partial<Pick<Endpoint, keyof typeof NOTHING>> & {
    parameters: Q; pathParameters?: P; lookup: (reader: Reader, query: z.output<Q>, path: z.output<P>, base: string) => Promise<Answer>;
  },
): Endpoint {
  return { ...NOTHING, ...facts, lookup: (reader, { query, path, base }) => facts.lookup(reader, query as z.output<Q>, path as z.output<P>, base) };
}
