/** Prepares content that is sent to many clients. The content is compressed once, not for each request. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Minimum size in bytes of content that is compressed. */
export const WORTH_COMPRESSING = 1024;

export interface Prepared {
  /** Weak entity tag, which is the same for the plain and the compressed content. */
  readonly tag: string;
  readonly plain: Buffer;
  /** Content compressed with gzip. Null: the content is too small to compress. */
  readonly packed: Buffer | null;
}

/** @param level compression level. Default: the maximum, for content that is sent often */
export async function prepare(content: string | Buffer, level: number = constants.Z_BEST_COMPRESSION): Promise<Prepared> {
  const plain = Buffer.from(content);
  const packed = plain.length < WORTH_COMPRESSING ? null : await promisify(gzip)(plain, { level });
  return { tag: `W/"${digest(plain)}"`, plain, packed };
}

/** Sends 304 if the client has the content. Otherwise sends the content, compressed if the client accepts gzip. */
export function sendPrepared(request: FastifyRequest, reply: FastifyReply, content: Prepared): FastifyReply {
  reply.header('etag', content.tag);
  if (matches(request.headers['if-none-match'], content.tag)) return reply.code(304).send();
  return sendForm(request, reply, content);
}

/** Sends content, compressed if the client accepts gzip. Adds no entity tag. */
export function sendForm(request: FastifyRequest, reply: FastifyReply, { plain, packed }: Prepared): FastifyReply {
  const accepted = request.headers['accept-encoding'];
  if (packed === null || typeof accepted !== 'string' || negotiate(accepted, ['gzip', 'identity']) !== 'gzip') return reply.send(plain);
  return reply.header('content-encoding', 'gzip').send(packed);
}

export function digest(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('base64url').slice(0, 22);
}

/** Compares `If-None-Match` with an entity tag by weak comparison. */
export function matches(header: string | undefined, tag: string): boolean {
  return header !== undefined && (header.trim() === '*' || header.split(',').some((each) => each.trim().replace(/^W\//, '') === tag.replace(/^W\//, '')));
}
