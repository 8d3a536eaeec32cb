/** Serves `/health` and `/status`, which need no key. The content is at most one second old. */
import type { FastifyInstance } from 'fastify';
import { describeFailure, refusal } from '../errors.ts';
import { JSON_TYPE, PROBLEM_TYPE } from '../http.ts';
import { BASE } from '../openapi.ts';
import { prepare, sendForm, type Prepared } from '../prepared.ts';
import { remember } from '../remember.ts';
import { REMEMBERED_MS, type Service } from '../service.ts';
import { statusOf } from '../service-status.ts';
import { statementsOf } from '../../pipelines/db/statements.ts';

interface Health {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly content: Prepared;
}

export async function health(app: FastifyInstance, service: Service): Promise<void> {
  const look = remember(REMEMBERED_MS, () => healthOf(service));
  app.get(`${BASE}/health`, async (request, reply) => {
    const { status, headers, content } = await look();
    return sendForm(request, reply.code(status).headers(headers).type(JSON_TYPE).header('cache-control', 'no-store'), content);
  });
  app.get(`${BASE}/status`, async (_request, reply) => {
    const { status, headers } = await look();
    return reply.code(status).headers(headers).type(PROBLEM_TYPE).header('cache-control', 'no-store').send(JSON.stringify(statusOf(status)));
  });
}

async function healthOf({ reader, version, log }: Service): Promise<Health> {
  const about = { version, timestamp: new Date().toISOString() };
  try {
    const { dataset } = await reader.call<{ dataset: string }>('select dataset from api.health()', []);
    const { readOnly } = await reader.count<{ readOnly: boolean }>(statementsOf('server')('is_read_only'), []).catch(() => ({ readOnly: true }));
    const body = JSON.stringify({ status: 'ok', ...about, database: readOnly ? 'read_only' : 'ok' });
    return { status: 200, headers: {}, content: await prepare(`${body.slice(0, -1)},"dataset":${dataset}}`) };
  } catch (error) {
    log.warn(`health: ${describeFailure(error)}`);
    const { status, headers } = refusal.SERVICE_UNAVAILABLE('', 'database');
    return { status, headers, content: await prepare(JSON.stringify({ status: 'unavailable', ...about, database: 'unreachable', dataset: null })) };
  }
}
