/**
 * Compares the objects of a database (tables, columns, constraints, indexes, views, functions, grants) with the objects of a fresh database of this version.
 * `sql/objects.json` lists the expected objects with digests, except the objects that `sectionObjects` and `layerObjects` return.
 * `npx vitest run test/pipelines/objects.test.ts -u` writes the file from a fresh database.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../config.ts';
import { regionOfFid } from '../contract/regions.ts';
import { sha256 } from '../contract/sql-files.ts';
import { MappaleError } from '../errors.ts';
import { isDistributed } from './distributed.ts';
import { layerObjects } from './layer-objects.ts';
import type { Reader } from './reader.ts';
import { isOfSection, withSections } from './section-objects.ts';
import type { Part } from './state.ts';
import { savepoint } from './transactions.ts';
import { runEach, statementsOf } from './statements.ts';
import type { Session } from './types.ts';

const statement = statementsOf('objects');

export const OBJECTS_FILE = 'sql/objects.json';

/** Placeholder that replaces the names of regional schemas, such as `region_7`. All regional schemas contain the same objects. */
const REGIONAL = 'region_N';

type Kind = 'schema' | 'extension' | 'table' | 'view' | 'column' | 'constraint' | 'index' | 'function' | 'grant';

/** A database object. The object's name starts with the schema. `region_N` replaces the names of regional schemas. */
export interface Found extends Record<string, unknown> {
  /** Name of the schema. Empty if the object is not in a schema. */
  readonly schema: string;
  readonly kind: Kind;
  readonly name: string;
  /** All other properties of the object, as text or as a digest. */
  readonly definition: string;
}

/** Expected objects with their definitions, by kind and name. */
export interface Expected {
  /** Digest of the SQL files from which the list was created. */
  readonly files: string;
  readonly objects: Readonly<Partial<Record<Kind, Readonly<Record<string, string>>>>>;
}

/** An expected object that is missing or differs. */
export interface Damage {
  readonly kind: Kind;
  readonly name: string;
  readonly expected: string;
  /** Definition in the database; null if the object is missing. */
  readonly found: string | null;
}

/**
 * Returns the digest of the SQL files whose objects `sql/objects.json` lists, which are all files except the files of sections and layers. Comments and
 * layout do not change the digest.
 */
export function filesDigest(parts: readonly Part[]): string {
  return sha256(parts.filter(({ kind, file }) => kind !== 'layer' && !isOfSection(file)).map(({ file }) => `${file.file} ${file.digest}`).sort().join('\n')).slice(0, 16);
}

let read: Expected | undefined;

/** Returns the expected objects. Returns null if SQL files have changed since the list was written. */
export function expectedObjects(parts: readonly Part[]): Expected | null {
  read ??= JSON.parse(readFileSync(join(ROOT, OBJECTS_FILE), 'utf8')) as Expected;
  if (read.files !== filesDigest(parts)) return null;
  return { ...read, objects: withSections(read.objects, parts.flatMap(({ source }) => (source === null ? [] : layerObjects(source.layers)))) };
}

/** Returns the objects of the database, as `sql/statements/objects.sql` lists them. */
export function foundObjects(session: Pick<Session, 'query'>): Promise<Found[]> {
  return session.query<Found>(statement('objects'));
}

/**
 * Compares the objects of a database with the expected objects.
 * @returns missing and different objects; empty if `expectedObjects` returns null
 */
export async function damageOf(session: Session, parts: readonly Part[]): Promise<Damage[]> {
  const regions = await isDistributed(session) ? [] : await session.query<{ fid: number }>(statement('regions'));
  // Computes the expected objects while the server lists the objects.
  const finding = foundObjects(session);
  const expected = expectedObjects(parts);
  const found = await finding;
  return expected === null ? [] : compare(expected, found, regions.map(({ fid }) => regionOfFid(fid)));
}

/**
 * Checks the objects of a database before the API server starts, in one query. Grants are checked only if the server uses the role `mappale_api`.
 * @throws MappaleError `CATALOGUE_DAMAGED` (exit 6)
 */
export async function requireWhole(reader: Reader, parts: readonly Part[]): Promise<void> {
  const expected = expectedObjects(parts);
  if (expected === null) return;
  const { found } = await reader.call<{ found: Found[] }>(statement('objects_as_one', { objects: { sql: statement('objects') } }), []);
  const damage = compare(expected, found, []).filter(({ kind }) => kind !== 'grant' || reader.restricted);
  if (damage.length > 0) throw damaged(damage);
}

/** Compares expected and found objects. @param regions codes of the regions that must have a schema */
export function compare({ objects }: Expected, found: readonly Found[], regions: readonly number[]): Damage[] {
  const known = new Map(found.map(({ schema, kind, name, definition }) => [`${kind} ${realName(name, schema)}`, definition]));
  const schemas = new Set([...found.map(({ schema }) => schema).filter((schema) => /^region_\d+$/.test(schema)), ...regions.map((code) => `region_${code}`)]);
  const damage: Damage[] = [];
  for (const [kind, byName] of Object.entries(objects) as [Kind, Record<string, string>][]) {
    for (const [shown, expected] of Object.entries(byName)) {
      for (const name of shown.startsWith(REGIONAL) ? [...schemas].map((schema) => realName(shown, schema)) : [shown]) {
        const definition = known.get(`${kind} ${name}`);
        if (definition !== expected) damage.push({ kind, name, expected, found: definition ?? null });
      }
    }
  }
  return withoutParts(damage);
}

function realName(name: string, schema: string): string {
  return name.startsWith(REGIONAL) ? `${schema}${name.slice(REGIONAL.length)}` : name;
}

/**
 * Removes damage that follows from other damage: columns, constraints and indexes of a missing table or view, grants on a missing function or schema, and all
 * objects of a missing schema.
 */
function withoutParts(damage: readonly Damage[]): Damage[] {
  const missing = new Set(damage.filter(({ found }) => found === null).map(({ kind, name }) => `${kind} ${name}`));
  return damage.filter(({ kind, name }) => {
    const [relation = ''] = name.split(' ');
    if (kind !== 'schema' && missing.has(`schema ${name.slice(0, name.indexOf('.'))}`)) return false;
    if (kind === 'grant') return !missing.has(`function ${name}`) && !missing.has(`schema ${name}`);
    const holder = kind === 'column' ? relation.slice(0, relation.lastIndexOf('.')) : relation;
    return !['column', 'constraint', 'index'].includes(kind) || !(missing.has(`table ${holder}`) || missing.has(`view ${holder}`));
  });
}

/** Schemas that `migrate` recreates completely. */
const MADE_AGAIN = /^(api|past|region_\d+)(\.|$)/;

/** Returns whether a missing or different object contains rows, which `migrate` cannot recreate. */
export function isLost({ kind, name }: Damage): boolean {
  return ['schema', 'table', 'column'].includes(kind) && !MADE_AGAIN.test(name);
}

/** Returns whether records are read from a missing or different schema, table or column. The views for records then cannot be recreated. */
export function isReadByRecords(damage: Damage): boolean {
  return isLost(damage) && /^(core|section|history)(\.|$)/.test(damage.name);
}

/** Returns whether `migrate` repairs an object by running the files of functions and views again. */
export function isFunction({ kind, name }: Damage): boolean {
  return ['function', 'grant', 'view'].includes(kind) || (['schema', 'column'].includes(kind) && MADE_AGAIN.test(name));
}

/** Error codes for a reference to a missing column or table. */
const LOST_REFERENCES: ReadonlySet<string> = new Set(['SQL_42703', 'SQL_42P01']);

/**
 * Creates missing indexes and constraints, rebuilds invalid indexes and validates constraints that are not validated. Skips indexes and constraints of a
 * missing column or table. Call inside a transaction.
 * @returns the steps as text
 */
export async function repairTables(session: Session, damage: readonly Damage[]): Promise<string[]> {
  const steps: string[] = [];
  // A foreign key needs the primary key of the other table, so foreign keys are created last.
  const rank = ({ kind, name }: Damage): number => (kind === 'index' ? 0 : name.includes(' FOREIGN KEY ') ? 2 : 1);
  for (const each of damage.filter(({ kind }) => ['index', 'constraint'].includes(kind)).sort((a, b) => rank(a) - rank(b))) {
    try {
      await savepoint(session, 'repair', () => repairTable(session, each));
      steps.push(`repaired: ${each.kind} ${each.name}`);
    } catch (error) {
      if (!(error instanceof MappaleError) || !LOST_REFERENCES.has(error.code)) throw error;
    }
  }
  return steps;
}

async function repairTable(session: Session, { kind, name, found }: Damage): Promise<void> {
  const at = name.indexOf(' ');
  const [table, definition] = [name.slice(0, at), name.slice(at + 1)];
  if (kind === 'constraint') {
    if (found !== null) await runEach(session, statement('validate'), [table]);
    else await session.query(statement('add_constraint', { table: { sql: table }, definition: { sql: definition } }));
    return;
  }
  if (found !== null) await runEach(session, statement('drop_invalid'), [table]);
  const unique = definition.startsWith('UNIQUE ');
  await session.query(statement('make_index', { unique: { sql: unique ? 'unique' : '' }, table: { sql: table }, using: { sql: unique ? definition.slice('UNIQUE '.length) : definition } }));
}

/** Returns published partitions that are missing or detached from their parent table. */
export function lostPartitions(session: Pick<Session, 'query'>): Promise<{ relation: string; partition: string }[]> {
  return session.query(statement('lost_partitions'));
}

/** Maximum number of objects that a message names. */
const NAMED = 12;

/** Returns an error that lists missing and differing objects, with the command that repairs the database. */
export function damaged(damage: readonly Damage[]): MappaleError {
  const lost = damage.filter(isLost);
  const named = [...lost, ...damage.filter((each) => !isLost(each))].slice(0, NAMED).map(describeDamage);
  if (damage.length > NAMED) named.push(`and ${damage.length - NAMED} more`);
  return new MappaleError(`${damage.length === 1 ? 'an object of the database is' : `${damage.length} objects of the database are`} missing or different`, {
    code: 'CATALOGUE_DAMAGED', kind: 'database', detail: named.join('\n          '), data: damage,
    hint: lost.length === 0
      ? 'A restore may have left out objects, or somebody has changed objects. This command repairs the objects.'
      : 'Tables and columns are missing with their rows. Restore a dump into a new database. Without a dump, create a new database and load the regions again.',
    fix: lost.length === 0 ? 'npx mappale migrate' : 'npx mappale load-region REGION --data FOLDER',
  });
}

export function describeDamage({ kind, name, expected, found }: Damage): string {
  if (found === null) return `${kind} ${name} is missing`;
  if (kind === 'function') return `function ${name} differs`;
  return `${kind} ${name}: expected ${expected || 'nothing'}, found ${found || 'nothing'}`;
}
