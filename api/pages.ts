/**
 * Serves the API documentation and the map. All files are listed in this file and read once. The pages load no files from other servers, except the tiles of
 * a configured base map.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { ROOT } from '../pipelines/config.ts';
import type { MapPanel } from '../pipelines/contract/section-map.ts';
import { loadSources } from '../pipelines/contract/registry.ts';
import { mapOf } from '../pipelines/contract/section-maps.ts';
import { SECTIONS } from '../pipelines/contract/sections.ts';
import { IS_COMPILED } from '../pipelines/program.ts';
import { originOfTiles, type BaseMap } from './base-map.ts';
import { LIBRARIES, LIBRARY_FOLDER } from './libraries.ts';
import { BASE } from './openapi.ts';
import { prepare, sendPrepared, type Prepared } from './prepared.ts';

const require = createRequire(import.meta.url);

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

function own(name: string): () => Promise<Buffer> {
  return () => readFile(fileURLToPath(new URL(`pages/${name}`, import.meta.url)));
}

/** Reads a file of an npm package: in a checkout the installed file, otherwise the copy from the build. */
function library<Name extends keyof typeof LIBRARIES>(name: Name, file: (typeof LIBRARIES)[Name][number]): () => Promise<Buffer> {
  return () => readFile(IS_COMPILED ? join(ROOT, LIBRARY_FOLDER, name, basename(file)) : require.resolve(`${name}/${file}`));
}

const FILES: readonly { readonly path: string; readonly type: string; readonly read: () => Promise<Buffer> }[] = [
  { path: '/docs', type: HTML, read: own('docs.html') },
  { path: '/docs/start.js', type: SCRIPT, read: own('docs.js') },
  { path: '/docs/swagger-ui.js', type: SCRIPT, read: library('swagger-ui-dist', 'swagger-ui-bundle.js') },
  { path: '/docs/swagger-ui.css', type: STYLE, read: library('swagger-ui-dist', 'swagger-ui.css') },
  { path: '/map', type: HTML, read: own('map/index.html') },
  ...['cadastral', 'comparison', 'downloads', 'elements', 'explanation', 'filters', 'interface', 'layers', 'legend', 'published', 'record', 'search', 'sheet', 'start', 'state', 'streets', 'url', 'values', 'view', 'words'].map((name) => ({ path: `/map/${name}.js`, type: SCRIPT, read: own(`map/${name}.js`) })),
  { path: '/map/sections.js', type: SCRIPT, read: sectionPanels },
  { path: '/map/map.css', type: STYLE, read: own('map/map.css') },
  { path: '/map/maplibre-gl.mjs', type: SCRIPT, read: library('maplibre-gl', 'dist/maplibre-gl.mjs') },
  { path: '/map/maplibre-gl-worker.mjs', type: SCRIPT, read: library('maplibre-gl', 'dist/maplibre-gl-worker.mjs') },
  { path: '/map/maplibre-gl.css', type: STYLE, read: library('maplibre-gl', 'dist/maplibre-gl.css') },
];

/**
 * Returns the content security policy, which allows only files and the API of this server, and the tiles of a base map. Inline styles are allowed, because
 * Swagger UI and MapLibre set styles by script.
 * @param tiles origin of the tiles of a base map, which scripts may request; null: none
 */
function policy(tiles: string | null): string {
  const connect = ["'self'", ...(tiles === null ? [] : [tiles])].join(' ');
  return `default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src ${connect}; worker-src 'self'; `
    + "form-action 'none'; base-uri 'none'; frame-ancestors 'none'";
}

/** Contents of the files, which are read and compressed when a process creates its first server. */
const contents = new Map<string, Promise<Prepared>>();

function contentOf(path: string, read: () => Promise<Buffer>): Promise<Prepared> {
  let content = contents.get(path);
  if (content === undefined) contents.set(path, content = read().then(prepare));
  return content;
}

/** Fields that the map page shows outside the tables of the sections. */
const ELSEWHERE = ['source', 'geometry', 'municipality'];

/** Returns the panel of each section on the map, with the descriptions of fields by path. */
export function panels() {
  return SECTIONS.map(({ name, title, block }) => {
    const { panel, italian } = mapOf(name);
    return { name, title, italian, ...panel, fields: Object.fromEntries(fieldsOf(block, panel)) };
  });
}

/** Returns the Italian title of each source, by the title in English. */
export async function italianSources(): Promise<Readonly<Record<string, string>>> {
  return Object.fromEntries((await loadSources()).map(({ manifest }) => [manifest.title, manifest.italianTitle]));
}

/** Returns the texts of sections and sources as a script of the map page. */
async function sectionPanels(): Promise<Buffer> {
  const byName = Object.fromEntries(panels().map(({ name, ...panel }) => [name, panel]));
  const constants = { SECTIONS: byName, ELSEWHERE, ITALIAN_SOURCES: await italianSources() };
  return Buffer.from(Object.entries(constants).map(([name, value]) => `export const ${name} = ${JSON.stringify(value, null, 1)};\n`).join(''));
}

/** Returns path and description of the columns of a list, and of the fields of an object that are not in `ELSEWHERE`. */
function fieldsOf(block: z.ZodType, { list }: MapPanel): [string, string][] {
  const columns = Object.keys(list?.columns ?? {}).map((column) => (list?.field === undefined ? column : `${list.field}.${column}`));
  return [...descriptionsOf(z.toJSONSchema(block))].filter(([path]) => {
    const [first = ''] = path.split('.');
    const isList = list !== undefined && (list.field === undefined || list.field === first);
    return isList ? columns.includes(path) : !ELSEWHERE.includes(first);
  });
}

/** Yields the description of each field of a block with its path. Lists yield the fields of their elements. */
function* descriptionsOf(root: z.core.JSONSchema.BaseSchema, schema = root, path = ''): Generator<[string, string]> {
  const { $ref, anyOf, items, properties = {} } = schema;
  if ($ref !== undefined) yield* descriptionsOf(root, root.$defs?.[$ref.replace('#/$defs/', '')], path);
  for (const each of anyOf ?? []) if (typeof each === 'object') yield* descriptionsOf(root, each, path);
  if (typeof items === 'object' && !Array.isArray(items)) yield* descriptionsOf(root, items, path);
  for (const [name, field] of Object.entries(properties)) {
    if (typeof field !== 'object') continue;
    if (field.description !== undefined) yield [path + name, field.description];
    yield* descriptionsOf(root, field, `${path}${name}.`);
  }
}

/** Serves the pages below the base path. `/` redirects to the documentation. `/map`, `/docs` and `/metrics` redirect to the same paths below the base path. */
export async function pages(app: FastifyInstance, { baseMap }: { readonly baseMap: BaseMap | null }): Promise<void> {
  const [usual, ofMap] = [policy(null), policy(baseMap === null ? null : originOfTiles(baseMap))];
  for (const { path, type, read } of FILES) {
    const content = await contentOf(path, read);
    app.get(BASE + path, async (request, reply) => sendPrepared(request, reply.headers({
      'content-type': type, 'cache-control': 'no-cache', 'content-security-policy': path.startsWith('/map') ? ofMap : usual, 'referrer-policy': 'no-referrer',
    }), content));
  }
  for (const [from, to] of [['/', '/docs'], ['/map', '/map'], ['/docs', '/docs'], ['/metrics', '/metrics']] as const) app.get(from, async (_request, reply) => reply.redirect(BASE + to));
}
