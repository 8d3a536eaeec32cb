/** Sends requests of a test worker to the broker in the main process (`global-setup.ts`). */
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { inject } from 'vitest';

/**
 * Returns the text of the broker's response. Each request has its own connection and no timeout. `fetch` fails after 300 s without a response, and loading a
 * shared database can take longer on a busy machine. It also fails if the broker closes an idle connection while the worker is busy.
 * @param path path and query, relative to the broker's URL
 * @throws Error if the status of the response is not 200
 */
export function askBroker(path: string, method: 'GET' | 'POST' = 'GET'): Promise<string> {
  return new Promise((resolve, reject) => {
    request(new URL(path, inject('postgresBroker')), { method, agent: false }, (response) => {
      text(response).then((body) => response.statusCode === 200 ? resolve(body) : reject(new Error(body)), reject);
    }).on('error', reject).end();
  });
}
