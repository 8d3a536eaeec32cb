/** Pages for people: the document to try, and a map. Every file is named here and read once; nothing comes from elsewhere. */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { BASE } from './openapi.ts';
import { prepare, sendPrepared, type Prepared } from './prepared.ts';

const require = createRequire(import.meta.url);

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

function own(name: string): string {
  return fileURLToPath(new URL(`pages/${name}`, import.meta.url));
}

const FILES: readonly { readonly path: string; readonly type: string; readonly file: string }[] = [
  { path: '/docs', type: HTML, file: own('docs.html') },
  { path: '/docs/start.js', type: SCRIPT, file: own('docs.js') },
  { path: '/docs/swagger-ui.js', type: SCRIPT, file: require.resolve('swagger-ui-dist/swagger-ui-bundle.js') },
  { path: '/docs/swagger-ui.css', type: STYLE, file: require.resolve('swagger-ui-dist/swagger-ui.css') },
  { path: '/map', type: HTML, file: own('map.html') },
  { path: '/map/map.js', type: SCRIPT, file: own('map.js') },
  { path: '/map/map.css', type: STYLE, file: own('map.css') },
  { path: '/map/leaflet.js', type: SCRIPT, file: require.resolve('leaflet/dist/leaflet.js') },
  { path: '/map/leaflet.css', type: STYLE, file: require.resolve('leaflet/dist/leaflet.css') },
];

/** Only what this server sends, and only its own interface; the two libraries set styles from their scripts. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/** Read and compressed when the first server of the process is made. */
const contents = new Map<string, Promise<Prepared>>();

function contentOf(file: string): Promise<Prepared> {
  let content = contents.get(file);
  if (content === undefined) contents.set(file, content = readFile(file).then(prepare));
  return content;
}

/** Serves the pages below the base address, and leads there from the root. */
export async function pages(app: FastifyInstance): Promise<void> {
  for (const { path, type, file } of FILES) {
    const content = await contentOf(file);
    app.get(BASE + path, async (request, reply) => sendPrepared(request, reply.headers({
      'content-type': type, 'cache-control': 'no-cache', 'content-security-policy': POLICY, 'referrer-policy': 'no-referrer',
    }), content));
  }
  for (const [from, to] of [['/', '/docs'], ['/map', '/map'], ['/docs', '/docs']] as const) app.get(from, async (_request, reply) => reply.redirect(BASE + to));
}
