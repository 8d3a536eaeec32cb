/** Tests that the quality gate covers every published table, and every numeric, boolean and nullable column of these tables. */
import { expect, it } from 'vitest';
import type { Database } from '../../pipelines/db/index.ts';
import type { TableGate } from '../../pipelines/contract/gate.ts';
import { GATES } from '../../pipelines/contract/gates.ts';
import type { Relation } from '../../pipelines/contract/sql-files.ts';
import { productFiles } from '../../pipelines/plan/products.ts';
import { describeEngines } from '../harness/database.ts';
import { FILES } from '../harness/architecture/project.ts';
import { freshContext } from '../harness/fresh-context.ts';

const ANY_REGION = 14;
/** Columns that identify the release, file, position and region of a row. The quality gate does not measure these columns. */
const OUTSIDE = ['release_id', 'member_id', 'document_id', 'position', 'region_code'];
const NUMBERS = ['int2', 'int4', 'int8', 'float4', 'float8', 'numeric'];

const PUBLISHED: readonly Relation[] = [0, ANY_REGION].flatMap((region) => productFiles(region).map(({ writes }) => writes[0]!));
const WATCHED = Object.entries(GATES).filter((entry): entry is [Relation, TableGate] => !('unwatched' in entry[1]));

interface Column {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

// The tests use one engine, because tables and columns are the same on both engines.
describeEngines('the quality gate', (engine) => {
  let opened: Promise<Database> | undefined;
  const columnsOf = async (relation: Relation): Promise<Column[]> => {
    opened ??= freshContext(engine).then(({ database }) => database);
    return (await opened).query<Column & Record<string, unknown>>(
      `select a.attname as name, t.typname as type, not a.attnotnull as nullable from pg_attribute a join pg_type t on t.oid = a.atttypid
       where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped and a.attname <> all ($2) order by 1`, [relation, OUTSIDE],
    );
  };

  /** Returns the violations in all gated tables, as `table: message`. */
  const everywhere = async (rule: (gate: TableGate, columns: readonly Column[]) => readonly string[]): Promise<string[]> =>
    (await Promise.all(WATCHED.map(async ([relation, gate]) => rule(gate, await columnsOf(relation)).map((violation) => `${relation}: ${violation}`)))).flat();

  it('has entries for all published tables and for no other tables', () => {
    expect(PUBLISHED.length).toBeGreaterThan(20);
    expect(Object.keys(GATES).sort()).toEqual([...PUBLISHED].sort());
    expect(Object.values(GATES).filter((gate) => 'unwatched' in gate && gate.unwatched.trim() === '')).toEqual([]);
  });

  it('measures every numeric, boolean and nullable column, or states why not', async () => {
    expect(await everywhere(({ fields, excused }, columns) => {
      const derived = Object.values(fields).flatMap((field) => (field.kind === 'quantity' ? field.of ?? [] : []));
      return columns.filter(({ name, type, nullable }) => (NUMBERS.includes(type.replace(/^_/, '')) || type === 'bool' || nullable)
        && !(name in fields) && !derived.includes(name) && (excused[name] ?? '').trim() === '').map(({ name }) => name);
    })).toEqual([]);
  });

  it('declares only existing columns, and excuses no column that it measures', async () => {
    expect(await everywhere(({ fields, excused, identities = [], slice }, columns) => {
      const there = new Set(columns.map(({ name }) => name));
      const named = [
        ...Object.entries(fields).flatMap(([name, field]) => (field.kind === 'quantity' && field.of !== undefined ? field.of : [name])), ...Object.keys(excused),
        ...identities.flatMap(({ parts, whole }) => [...parts, whole]), ...(slice === undefined ? [] : [slice.column]),
      ];
      return [...named.filter((name) => !there.has(name) && !OUTSIDE.includes(name)), ...Object.keys(excused).filter((name) => name in fields)];
    })).toEqual([]);
  });

  it('measures each column by a rule for the column\'s type (number or bool)', async () => {
    expect(await everywhere(({ fields }, columns) => columns.filter(({ name, type }) => {
      const kind = fields[name]?.kind;
      return (kind === 'quantity' && !NUMBERS.includes(type)) || (kind !== undefined && (kind === 'truth') !== (type === 'bool'));
    }).map(({ name }) => name))).toEqual([]);
  });

  it('gives a reason for every field that has limits of its own', () => {
    const own = WATCHED.flatMap(([relation, { fields }]) => Object.entries(fields).flatMap(([name, field]) => {
      const why = field.kind === 'quantity' ? field.moves?.why : field.keeps?.why;
      return why === undefined ? [] : [{ name: `${relation}.${name}`, why }];
    }));
    expect(own.length).toBeGreaterThan(5);
    expect(own.filter(({ why }) => why.trim().length < 10)).toEqual([]);
  });

  it('runs every query in sql/gates/', () => {
    const asked = WATCHED.flatMap(([, { queries = [] }]) => queries.map(({ file }) => file));
    expect([...new Set(asked)].sort()).toEqual(FILES.filter((file) => file.startsWith('sql/gates/')).sort());
  });
}, ['postgres']);
