/**
 * Tests the rules for imports, for reading the environment, for names of sources and sections in shared code, and for SQL in TypeScript. A room is a group of
 * files that may import the same files and packages.
 */
import { posix } from 'node:path';
import { builtinModules } from 'node:module';
import { describe, expect, it } from 'vitest';
import { FILES, read, SECTION_FOLDERS, SOURCES, TYPESCRIPT } from '../harness/architecture/project.ts';
import { builtStatements, environmentReads, importsOf, writtenStatements, type Import } from '../harness/architecture/syntax.ts';

interface Room {
  /** Pattern of the room's files. A file belongs to the first room with a matching pattern. */
  readonly files: RegExp;
  /** Patterns of the files that the room may import. `$1` is the text that the first group of `files` matched. */
  readonly local: readonly string[];
  /** Pattern of the files that the room may import only on demand, with `import()`. */
  readonly late?: string;
  /** Packages that the room may import, with `@scope/*` for all packages of a scope. Null for any package in package.json. */
  readonly packages: readonly string[] | null;
}

/** The rooms of `pipelines` in import order. A file imports only from its own room and from earlier rooms. */
const ORDER = ['errors, log and settings', 'formats', 'contract', 'readers', 'address', 'db', 'deliver', 'ledger', 'plan', 'ingest', 'fetch', 'build', 'run', 'operate'] as const;

/** Packages that each room may import. */
const PACKAGES: Readonly<Record<(typeof ORDER)[number], readonly string[]>> = {
  'errors, log and settings': ['p-limit'],
  formats: ['csv-parse', 'stream-json', 'gdal-async', 'gdal3.js', 'h5wasm', 'hyparquet-writer', 'yauzl', 'saxes'],
  contract: ['zod'],
  readers: ['proj4', 'zod'],
  address: [],
  db: ['p-limit', 'pg', 'pg-copy-streams', '@electric-sql/pglite', '@electric-sql/pglite-postgis'],
  deliver: ['zod'],
  ledger: [],
  plan: [],
  ingest: [],
  fetch: ['undici', 'zod'],
  build: ['p-limit'],
  run: [],
  operate: ['prom-client', 'zod'],
};

const roomPath = (room: string): string => (room === ORDER[0] ? 'pipelines/[^/]+\\.ts$' : `pipelines/${room}/`);

const ROOMS: Readonly<Record<string, Room>> = {
  'a test': { files: /^test\/|\.test\.ts$/, local: [''], packages: null },
  'a source\'s synthetic file': { files: /^sources\/([^/]+)\/synthetic[^/]*\.ts$/, local: ['sources/$1/', ...['formats', 'contract', 'readers', 'address', 'synthetic'].map(roomPath)], packages: [] },
  'a source': { files: /^sources\/([^/]+)\//, local: ['sources/$1/(?!synthetic)', 'pipelines/mask-tax-code.ts', ...['formats', 'contract', 'readers', 'address'].map(roomPath)], packages: ['zod'] },
  'a section': {
    files: /^sql\/sections\/([^/]+)\/(?:section|map|class-names)\.ts$/,
    local: ['pipelines/contract/(gate|schemas|section|section-map)\\.ts$', 'sql/sections/$1/class-names\\.ts$'], packages: ['zod'],
  },
  'a sweep of a section': { files: /^sql\/sections\/([^/]+)\/sweep\.ts$/, local: ['pipelines/contract/sweep\\.ts$'], packages: [] },
  'gates of the core': { files: /^sql\/core\/gates\.ts$/, local: ['pipelines/contract/'], packages: [] },
  ...Object.fromEntries(ORDER.map((room, index) => [room, {
    files: new RegExp(`^${roomPath(room)}`), local: [...ORDER.slice(0, index + 1).map(roomPath), ...(room === 'contract' ? ['sql/core/gates.ts'] : [])], packages: PACKAGES[room],
  }])),
  synthetic: { files: /^pipelines\/synthetic\//, local: [ORDER[0], 'formats', 'contract', 'readers', 'synthetic'].map(roomPath), packages: ['geographiclib-geodesic', 'h5wasm', 'polyclip-ts', 'proj4', 'yazl'] },
  'a command': { files: /^cli\//, local: ['cli/', 'pipelines/(?!synthetic/)', 'api/'], late: roomPath('synthetic'), packages: ['@modelcontextprotocol/sdk', 'commander', 'zod'] },
  'a report': { files: /^api\/report\//, local: ['api/(report/|answers\\.ts$)', 'pipelines/(?!synthetic/)'], packages: ['zod'] },
  'the server': {
    files: /^api\//, local: ['api/', roomPath('db'), roomPath('address'), 'pipelines/deliver/(changes|columns|enrich|keys|lineage|table|tiles)\\.ts$', 'pipelines/(config|errors|log|program|typed|contract/(registry|schemas|sections|section-maps?|regions)|formats/vector-tile|operate/metrics)\\.ts$'],
    packages: ['fastify', '@fastify/*', 'flatgeobuf', 'prom-client', 'zod'],
  },
  'a script': { files: /^scripts\//, local: ['scripts/', 'pipelines/', 'sources/', 'api/', 'cli/', 'test/harness/(environment|publishers|rewrite-zip)\\.ts$'], packages: null },
  'the configuration of a tool': { files: /^[^/]+\.config\.ts$/, local: ['test/harness/'], packages: null },
};

const { dependencies, peerDependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
const SHIPPED = new Set(Object.keys({ ...dependencies, ...peerDependencies }));
const INSTALLED = new Set([...SHIPPED, ...Object.keys(devDependencies ?? {})]);
const BUILTIN = new Set(builtinModules);

/** Returns the package of a specifier: `@scope/name/deep` → `@scope/name`. */
function packageOf(specifier: string): string {
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}

function isLocal({ specifier }: Pick<Import, 'specifier'>): boolean {
  return specifier.startsWith('.');
}

function target(file: string, { specifier }: Import): string {
  return posix.join(posix.dirname(file), specifier);
}

/** Returns one line for each import that the file's room does not allow, with the reason. */
function violations(file: string, text: string): string[] {
  const entry = Object.entries(ROOMS).find(([, { files }]) => files.test(file));
  if (entry === undefined) return [`${file}: belongs to no room`];
  const [name, room] = entry;
  const self = room.files.exec(file)?.[1] ?? '';
  const found: string[] = [];
  for (const each of importsOf(file, text)) {
    const offend = (why: string): void => void found.push(`${file}:${each.line}: ${name} ${why} ${each.specifier}`);
    if (isLocal(each)) {
      const path = target(file, each);
      if (![...room.local, ...(each.late && room.late !== undefined ? [room.late] : [])].some((allowed) => new RegExp(`^${allowed.replace('$1', self)}`).test(path))) offend('may not import');
      if (!/\.(ts|json)$/.test(path)) offend('omits the file extension of');
    } else if (each.specifier.startsWith('node:')) {
      if (!BUILTIN.has(each.specifier.slice('node:'.length))) offend('imports a module that Node does not have:');
    } else if (BUILTIN.has(each.specifier)) {
      offend('omits node: before');
    } else {
      const name = packageOf(each.specifier);
      const known = room.packages === null ? INSTALLED.has(name) : [name, name.replace(/\/.*/, '/*')].some((each) => room.packages?.includes(each)) && (each.typeOnly ? INSTALLED : SHIPPED).has(name);
      if (!known) offend('may not import the package');
    }
  }
  return found;
}

describe('imports', () => {
  it('follow the rules in the table of rooms', () => {
    expect(TYPESCRIPT.length).toBeGreaterThan(20);
    expect(TYPESCRIPT.flatMap((file) => violations(file, read(file)))).toEqual([]);
  });

  it('are found in every form, and reported if a room does not allow them', () => {
    const text = [
      "import type { Source } from '../../pipelines/contract/source.ts';",
      "export { x } from '../omi_zones/schema.ts';",
      "const a = await import('pg');",
      "const b = require('gdal-async');",
      "let c: import('../../pipelines/db/index.ts').Database;",
      "import fs from 'fs';",
      "import { z } from 'zod';",
      "import { d } from './schema';",
    ].join('\n');
    expect(violations('sources/omi_quotations/read.ts', text)).toEqual([
      'sources/omi_quotations/read.ts:2: a source may not import ../omi_zones/schema.ts',
      'sources/omi_quotations/read.ts:3: a source may not import the package pg',
      'sources/omi_quotations/read.ts:4: a source may not import the package gdal-async',
      'sources/omi_quotations/read.ts:5: a source may not import ../../pipelines/db/index.ts',
      'sources/omi_quotations/read.ts:6: a source omits node: before fs',
      'sources/omi_quotations/read.ts:8: a source omits the file extension of ./schema',
    ]);
    expect(violations('elsewhere/a.ts', '')).toEqual(['elsewhere/a.ts: belongs to no room']);
  });

  it('are allowed for `pipelines/synthetic` only on demand in commands, and not at all in a refresh or a source', () => {
    const text = "import type { Synthetic } from '../pipelines/synthetic/synthetic.ts';\nconst a = await import('../pipelines/synthetic/synthetic.ts');";
    expect(violations('cli/synth.ts', text)).toEqual(['cli/synth.ts:1: a command may not import ../pipelines/synthetic/synthetic.ts']);
    expect(violations('pipelines/run/refresh.ts', text)).toHaveLength(2);
    expect(violations('sources/omi_quotations/source.ts', "const a = await import('./synthetic.ts');")).toHaveLength(1);
  });

  it('include gdal-async only in a single file', () => {
    expect(importers('gdal-async')).toEqual(['pipelines/formats/gdal-native.ts']);
  });

  it('include pg, pg-copy-streams and PGlite only in a single folder, except in tests of faults', () => {
    const files = ['pg', 'pg-copy-streams', '@electric-sql/pglite', '@electric-sql/pglite-postgis'].flatMap(importers);
    expect(files.length).toBeGreaterThanOrEqual(3);
    // Tests of faults connect directly to the server that they disturb.
    expect(files.filter((file) => !file.startsWith('pipelines/db/') && !file.startsWith('test/faults/') && !file.startsWith('test/harness/faults/'))).toEqual([]);
  });

  it('in pipelines/plan include no module that needs a database, a file or a clock', () => {
    const files = TYPESCRIPT.filter((file) => file.startsWith('pipelines/plan/'));
    expect(files.length).toBeGreaterThan(2);
    const used = files.flatMap((file) => importsOf(file, read(file)).filter(({ typeOnly, specifier }) => !typeOnly && /^node:|\/db\//.test(specifier)).map(({ specifier }) => `${file}: ${specifier}`));
    expect(used).toEqual([]);
    expect(files.filter((file) => /\b(Date|performance)\b/.test(read(file)))).toEqual([]);
  });

  it('have no cycles', () => {
    const edges = new Map(
      TYPESCRIPT.map((file) => [file, importsOf(file, read(file)).filter((each) => isLocal(each) && !each.typeOnly).map((each) => target(file, each))]),
    );
    const done = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
      else if (!done.has(file)) {
        for (const next of edges.get(file) ?? []) visit(next, [...path, file]);
        done.add(file);
      }
    };
    for (const file of edges.keys()) visit(file, []);
    expect(circles).toEqual([]);
  });

  it('use every package that is installed for the program', () => {
    // Fastify imports light-my-request. package.json lists light-my-request to pin the last version that supports Node 20, because npm ignores the
    // `overrides` of a package that is installed as a dependency.
    const program = TYPESCRIPT.filter((file) => !file.startsWith('test/') && !file.endsWith('.test.ts')).map(read).join('\n');
    expect([...SHIPPED].filter((name) => name !== 'light-my-request' && !new RegExp(`['"\`]${name}['"\`/]`).test(program))).toEqual([]);
  });
});

function importers(name: string): string[] {
  return TYPESCRIPT.filter((file) => importsOf(file, read(file)).some(({ specifier }) => packageOf(specifier) === name && !isLocal({ specifier })));
}

describe('the environment', () => {
  it('is read in one file of the program and in one file of the tests', () => {
    const files = TYPESCRIPT.filter((file) => environmentReads(file, read(file)).length > 0);
    expect(files).toEqual(['pipelines/config.ts', 'test/harness/environment.ts']);
  });

  it('is detected in every form of access', () => {
    const text = ["const a = process.env['A'];", 'const { env } = process;', "import { env as e } from 'node:process';", "process['env'];", 'globalThis.process.env;', 'config.env;'].join('\n');
    expect(environmentReads('a.ts', text)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('the shared code', () => {
  it('names no source', () => {
    expect(SOURCES.length).toBeGreaterThan(0);
    const named = SOURCES.map((id) => [id, new RegExp(`\\b${id}\\b`)] as const);
    const offending = TYPESCRIPT.filter((file) => /^(pipelines|api|cli)\//.test(file)).flatMap((file) =>
      read(file).split('\n').flatMap((line, index) => named.filter(([, naming]) => naming.test(line)).map(([id]) => `${file}:${index + 1}: ${id}`)),
    );
    expect(offending).toEqual([]);
  });

  it('names no section except basic, which every record has', () => {
    const names = SECTION_FOLDERS.filter((name) => name !== 'basic');
    expect(names.length).toBeGreaterThan(5);
    // Some names of sections are also ordinary words, such as address and buildings.
    const ordinary = new Set(['address', 'buildings', 'population']);
    const naming = names.map((name) => [name, new RegExp(ordinary.has(name) ? `'${name}'|\\bsections?[._/]${name}\\b` : `(?<![a-z])${name}(?![a-z])`)] as const);
    // On the map, `address` is also a kind of suggestion. This use of the word is not the section.
    const apart = (line: string): string => line.replace(/\bkind: .*'address'/, '');
    const files = FILES.filter((file) => /^(pipelines|api|cli|sql\/api)\/.*\.(ts|js|html|sql)$/.test(file));
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap((file) => read(file).split('\n').flatMap((line, index) => naming.filter(([, form]) => form.test(apart(line))).map(([name]) => `${file}:${index + 1}: ${name}`)))).toEqual([]);
  });

  it('has no file for a single source', () => {
    expect(SOURCES.flatMap((id) => FILES.filter((file) => !file.startsWith(`sources/${id}/`) && !file.startsWith('test/') && posix.basename(file).includes(id)))).toEqual([]);
  });
});

describe('SQL in TypeScript', () => {
  // Tests may create tables with other names and columns. The table names in `contract/source-tables.ts` are declared in code and are not data.
  const apart = /^pipelines\/(db\/|contract\/source-tables\.ts$)|\.test\.ts$/;
  const files = TYPESCRIPT.filter((file) => /^(pipelines|sources|api|cli)\//.test(file) && !apart.test(file));

  it('is never composed from data outside pipelines/db', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(files.flatMap((file) => builtStatements(file, read(file)).map((line) => `${file}:${line}`))).toEqual([]);
  });

  it('is in files of sql/statements, except calls of a single API function', () => {
    expect(files.flatMap((file) => writtenStatements(file, read(file)).map((line) => `${file}:${line}`))).toEqual([]);
    const text = ['query(`select fid from core.parcel where fid = $1`);', "query('select publication, answer from api.locate_point($1, $2)');", "query('select api.parcel($1, $2) as record');", "query('select api.f($1) from core.parcel');", "query(ledger('open_runs'));"];
    expect(writtenStatements('a.ts', text.join('\n'))).toEqual([1, 4]);
  });

  it('is distinguished from ordinary text', () => {
    const text = [
      'query(`select * from ${table}`);',
      "query('drop table ' + name);",
      'query(`insert into core.parcel values (${a})`);',
      'query(`\n  with a as (select 1) select ${b}`);',
      'query(`select fid from core.parcel where fid = $1`);',
      'say(`update ${count} sections`);',
      'say(`select a region: ${names}`);',
      "say('create ' + count + ' files');",
      'say(`copy ${from} to ${to}`);',
      "query('set search_path to ' + schema);",
    ].join('\n');
    expect(builtStatements('a.ts', text)).toEqual([1, 2, 3, 4, 11]);
  });
});
