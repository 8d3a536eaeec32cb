/**
 * Tests that the OpenAPI document follows the Italian guidelines for APIs (Linee guida sull'interoperabilità tecnica). Only some of the guidelines can be
 * tested.
 */
import { describe, expect, it } from 'vitest';
import { document } from '../../api/openapi.ts';

type Json = Readonly<Record<string, unknown>>;

const PUBLIC = document('1.2.3', 'https://maps.example.org') as Json & {
  readonly info: Json; readonly servers: readonly Json[];
  readonly paths: Readonly<Record<string, { readonly get: {
    readonly parameters: readonly { readonly name: string; readonly in: string }[]; readonly responses: Readonly<Record<string, Json>>;
    readonly security: readonly Json[];
  }; }>>;
};

/** Returns every object of the document with its path. */
function* objects(value: unknown, path = ''): Generator<readonly [string, Json]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [path, value as Json];
  for (const [name, member] of Object.entries(value)) yield* objects(member, `${path}/${name}`);
}
const responses = Object.entries(PUBLIC.paths).flatMap(([path, { get }]) => (
  Object.entries(get.responses).map(([status, response]) => ({ path, status, response }))
));

describe('the OpenAPI document', () => {
  it('gives every number a format', () => {
    const numbers = [...objects(PUBLIC)].filter(([, { type }]) => type === 'integer' || type === 'number');
    expect(numbers.length).toBeGreaterThan(100);
    expect(numbers.filter(([, { format }]) => !['int32', 'int64', 'double'].includes(String(format))).map(([path]) => path)).toEqual([]);
  });

  it('describes errors as problem details, except the body of /health', () => {
    const errors = responses.filter(({ status }) => Number(status) >= 400);
    const others = errors.filter(({ response }) => Object.keys(response['content'] as Json).join() !== 'application/problem+json');
    expect(others.map(({ path, status }) => `${path} ${status}`)).toEqual(['/health 503']);
    expect(others[0]!.response['x-noqa']).toBe(true);
  });

  it('has /status, a contact and a summary, and lists the public address first', () => {
    expect(Object.keys(PUBLIC.paths)).toContain('/status');
    expect(PUBLIC.info).toMatchObject({ contact: { name: expect.any(String) as string }, 'x-summary': expect.any(String) as string });
    expect(PUBLIC.servers).toMatchObject([{ url: 'https://maps.example.org/api/v2', description: expect.any(String) as string }, { url: '/api/v2', 'x-sandbox': true }]);
    expect((document('1.2.3') as typeof PUBLIC).servers).toHaveLength(1);
  });

  it('declares Cache-Control in every successful response', () => {
    const found = responses.filter(({ status }) => status.startsWith('2'));
    expect(found.filter(({ response }) => (response['headers'] as Json)['Cache-Control'] === undefined).map(({ path, status }) => `${path} ${status}`)).toEqual([]);
  });

  it('describes the hourly limit of a token for paths that need a key, and the hourly limit of a network for all other paths', () => {
    const limits = Object.entries(PUBLIC.paths).flatMap(([path, { get }]) => Object.values(get.responses).flatMap(({ headers }) => {
      const limit = (headers as Readonly<Record<string, Json>>)['X-RateLimit-Limit'];
      return limit === undefined ? [] : [{ path, client: get.security.length === 0 ? 'network' : 'token', description: String(limit['description']) }];
    }));
    expect(new Set(limits.map(({ client }) => client))).toEqual(new Set(['token', 'network']));
    const of = { token: 'requests of the token per', network: 'requests of the client\'s network per' } as const;
    expect(limits.filter(({ client, description }) => !description.includes(of[client as keyof typeof of]))).toEqual([]);
  });

  it('accepts no key in a URL', () => {
    const parameters = Object.values(PUBLIC.paths).flatMap(({ get }) => get.parameters.filter((each) => each.in !== 'header').map(({ name }) => name));
    expect(parameters.filter((name) => /key|token|secret|password/i.test(name))).toEqual([]);
  });
});
