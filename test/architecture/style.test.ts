/** Tests the names, sizes and style of files, the wording of hints in errors, and package.json. */
import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FILES, isData, lineAt, read, SECTION_FOLDERS, SOURCES, TYPESCRIPT } from '../harness/architecture/project.ts';
import { hintsOf } from '../harness/architecture/syntax.ts';

/** Maximum number of lines of a file. Split a longer file. */
const MOST_LINES = 750;

/** File names that tools or conventions require. */
const GIVEN = /^(Makefile|LICENSE|README\.md|CHANGELOG\.md|CONTRIBUTING\.md|SECURITY\.md|Dockerfile|package-lock\.json)$/;

/** Matches tests that are named after a source's folder, such as `mef_income.test.ts`. */
const TESTS_OF_SOURCES = /^(sources\/[a-z0-9_]+|test\/real)\/[a-z0-9]+(_[a-z0-9]+)*\.test\.ts$/;

const OWN = FILES.filter((file) => !isData(file));
const CODE = OWN.filter((file) => /\.(ts|mjs|sh|sql)$/.test(file));
const TEXT = OWN.filter((file) => /\.(ts|mjs|sh|sql|md|json|yaml|yml)$|(^|\/)(Makefile|run)$/.test(file) && file !== 'package-lock.json');

describe('names', () => {
  it('are in kebab-case for files, and in snake_case for SQL files', () => {
    const wrong = OWN.filter((file) => {
      const name = basename(file);
      if (name.startsWith('.') || GIVEN.test(name) || TESTS_OF_SOURCES.test(file)) return false;
      return !(name.endsWith('.sql') ? /^[a-z0-9]+(_[a-z0-9]+)*\.sql$/ : /^[a-z0-9]+(-[a-z0-9]+)*(\.(test|cases|config))?(\.[a-z]+)?$/).test(name);
    });
    expect(wrong).toEqual([]);
  });

  it('are in kebab-case for folders, <publisher>_<dataset> for source folders, and in snake_case for section folders', () => {
    const folders = new Set(OWN.flatMap((file) => file.split('/').slice(0, -1).map((_part, index, parts) => parts.slice(0, index + 1).join('/'))));
    expect([...folders].filter((folder) => !/^(sources|sql\/sections)\/[^/]+$/.test(folder) && !/^\.?[a-z0-9]+(-[a-z0-9]+)*$/.test(basename(folder)))).toEqual([]);
    expect(SECTION_FOLDERS.filter((name) => !/^[a-z]+(_[a-z]+)*$/.test(name))).toEqual([]);
    expect(SOURCES.filter((id) => !/^[a-z0-9]+(_[a-z0-9]+)+$/.test(id))).toEqual([]);
  });
});

describe('code', () => {
  it(`has no file of more than ${MOST_LINES} lines`, () => {
    expect(CODE.length).toBeGreaterThan(50);
    expect(CODE.map((file) => ({ file, lines: read(file).split('\n').length - 1 })).filter(({ lines }) => lines > MOST_LINES)).toEqual([]);
  });

  it('contains no reminders of unfinished work', () => {
    // The words are composed here so that this file does not contain them.
    const loose = new RegExp(`\\b(${[['TO', 'DO'], ['FIX', 'ME'], ['X', 'XX'], ['HA', 'CK'], ['T', 'BD'], ['t', 'bd']].map((parts) => parts.join('')).join('|')})\\b`, 'g');
    expect(TEXT.flatMap((file) => [...read(file).matchAll(loose)].map((match) => `${file}:${lineAt(read(file), match.index)}: ${match[0]}`))).toEqual([]);
  });

  it('disables no lint rule and no type check, and skips no test without a condition', () => {
    const off = new RegExp([['@ts', '-(ignore|nocheck|expect-error)'], ['eslint', '-disable'], ['\\b(it|test|describe)\\.(only|todo)', '\\b'], ['\\b(it|test)\\.skip', '\\(']].map((parts) => parts.join('')).join('|'), 'g');
    expect(CODE.flatMap((file) => [...read(file).matchAll(off)].map((match) => `${file}:${lineAt(read(file), match.index)}: ${match[0]}`))).toEqual([]);
  });

  it('ends each file with one line feed, and contains no carriage returns and no trailing spaces or tabs', () => {
    expect(CODE.filter((file) => !/[^\n]\n$/.test(read(file)))).toEqual([]);
    expect(CODE.flatMap((file) => read(file).split('\n').flatMap((line, index) => (/[ \t]$|\r/.test(line) ? [`${file}:${index + 1}`] : [])))).toEqual([]);
  });
});

describe('a hint', () => {
  /** Words that only developers of the program understand. */
  const INSIDE = /\b[a-z_-]+\.(?:ts|sql)\b|\bmanifest\b|\bsources\/|\bteach\b|\bthe schema\b|_BY_NAME\b|\bEDITIONS\b/;
  const HINTS = TYPESCRIPT.filter((file) => /^(?:pipelines|sources|api|cli)\//.test(file) && !/\.test\.ts$|\/synthetic(?:\.ts|\/)/.test(file))
    .flatMap((file) => hintsOf(file, read(file)).map((hint) => ({ file, ...hint })));

  it('is written for users, without names of files or constants of the code', () => {
    expect(HINTS.length).toBeGreaterThan(250);
    expect(HINTS.filter(({ text }) => INSIDE.test(text)).map(({ file, line, text }) => `${file}:${line}: ${text}`)).toEqual([]);
  });
});

describe('package.json', () => {
  const manifest = JSON.parse(read('package.json')) as {
    readonly license: string;
    readonly dependencies: Record<string, string>;
    readonly optionalDependencies: Record<string, string>;
    readonly devDependencies: Record<string, string>;
  };

  it('pins every package to one version', () => {
    // Versions of DuckDB's binding have an additional number after the version of DuckDB.
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-r\.\d+)?$/.test(version))).toEqual([]);
  });

  it('states the licence of the file LICENSE', () => {
    expect(manifest.license).toBe('EUPL-1.2');
    expect(read('LICENSE')).toMatch(/^EUROPEAN UNION PUBLIC LICENCE v\. 1\.2\n/);
  });
});
