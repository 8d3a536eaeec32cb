/** Content that is the same for many: it is compressed once, not for each who asks. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Bytes from which on compressing is worth it. */
export const WORTH_COMPRESSING = 1024;

export interface Prepared {
  /** Weak: the same for both forms. */
  readonly tag: string;
  readonly plain: Buffer;
  /** gzip; null: not worth it. */
  readonly packed: Buffer | null;
}

/** @param level of the compression; not given: the best, for what is sent often */
export async function prepare(content: string | Buffer, level: number = constants.Z_BEST_COMPRESSION): Promise<Prepared> {
  const plain = Buffer.from(content);
  const packed = plain.length < WORTH_COMPRESSING ? null : await promisify(gzip)(plain, { level });
  return { tag: `W/"${digest(plain)}"`, plain, packed };
}

/** Sends it in the form that the caller takes, or 304 where the caller has it. */
export function sendPrepared(request: FastifyRequest, reply: FastifyReply, content: Prepared): FastifyReply {
  reply.header('etag', content.tag);
  if (matches(request.headers['if-none-match'], content.tag)) return reply.code(304).send();
  return sendForm(request, reply, content);
}

/** The same without a tag, for what is new at each look. */
export function sendForm(request: FastifyRequest, reply: FastifyReply, { plain, packed }: Prepared): FastifyReply {
  const accepted = request.headers['accept-encoding'];
  if (packed === null || typeof accepted !== 'string' || negotiate(accepted, ['gzip', 'identity']) !== 'gzip') return reply.send(plain);
  return reply.header('content-encoding', 'gzip').send(packed);
}

export function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

/** `If-None-Match`, compared weakly. */
export function matches(header: string | undefined, tag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === tag.replace(/^W\//, '')));
}
