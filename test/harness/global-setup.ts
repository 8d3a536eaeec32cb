/**
 * Runs once in Vitest's main process. The PostgreSQL server is started when the first suite needs it, and then serves every worker. A run without such suites
 * does not start the server.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { compiledProgram } from './compiled.ts';
import { forgetOwnServer, testEnvironment } from './environment.ts';
import { findPostgres, type Search, type TestServer } from './postgres.ts';
import { SharedDatabases } from './shared-databases.ts';

/** URL and database names with which a worker uses the PostgreSQL server, or the reason why there is no server. */
export type PostgresOffer = Pick<TestServer, 'url' | 'template' | 'prefix'> | { readonly refused: string };

declare module 'vitest' {
  interface ProvidedContext {
    /**
     * URL of a local HTTP server. `/` returns a `PostgresOffer`, `/shared` the URL of a database that suites share, and `/program` the path of the compiled
     * `mappale.mjs`.
     */
    postgresBroker: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const environment = testEnvironment();
  forgetOwnServer();
  let search: Promise<Search> | undefined;
  const shared = new SharedDatabases();
  let program: Promise<string> | undefined;
  const broker = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://broker.test');
    if (pathname === '/shared') {
      const content = searchParams.get('content') ?? '';
      if (request.method !== 'POST') {
        void shared.find(content).then((url) => response.end(JSON.stringify({ url })));
        return;
      }
      shared.finish(content, searchParams.get('url'));
      response.end();
      return;
    }
    if (pathname === '/program') {
      program ??= compiledProgram();
      program.then((path) => response.end(path), (error: unknown) => response.writeHead(500).end(`the program was not compiled: ${String(error)}`));
      return;
    }
    search ??= findPostgres(environment).then((found) => {
      for (const line of found.refused) say(`- ${line}`);
      say(found.server === null ? 'PostgreSQL: none found, so its suites are skipped' : `PostgreSQL: ${found.server.description}`);
      return found;
    });
    search.then(
      ({ server, refused }) => {
        const offer: PostgresOffer =
          server === null ? { refused: refused.join('; ') } : { url: server.url, template: server.template, prefix: server.prefix };
        response.end(JSON.stringify(offer));
      },
      (error: unknown) => response.writeHead(500).end(`the search for PostgreSQL failed: ${String(error)}`),
    );
  });
  await new Promise<void>((resolve, reject) => broker.once('error', reject).listen(0, '127.0.0.1', resolve));
  project.provide('postgresBroker', `http://127.0.0.1:${(broker.address() as AddressInfo).port}/`);
  return async () => {
    broker.closeAllConnections();
    await new Promise((resolve) => broker.close(resolve));
    await shared.remove();
    await (await search)?.server?.stop();
  };
}

function say(line: string): void {
  process.stderr.write(`test databases: ${line}\n`);
}
