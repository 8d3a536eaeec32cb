/** Represents sections as columns of a table, with names, types, descriptions, and the values of many parcels. */
import { z } from 'zod';
import { COVERAGE_MEANING } from '../contract/schemas.ts';
import type { Section, FlatColumn } from '../contract/section.ts';
import { chooseSections, SECTIONS, SECTION_NAMES } from '../contract/sections.ts';

export type Cell = string | number | boolean | null;

export interface OutputColumn {
  /** Name of the column, with the section as prefix (except for `basic`) and the unit as suffix. */
  readonly name: string;
  readonly type: FlatColumn['type'];
  /** Description, including the meaning of null. */
  readonly description: string;
}

/** Returns the columns of sections, in the order of the cells of `rowsOf`. */
export function columnsOf(sections: readonly string[]): readonly OutputColumn[] {
  return chosen(sections).flatMap((section) => {
    const named = (name: string): string => (section.name === 'basic' ? name : `${section.name}_${name}`);
    return [
      ...Object.entries(section.flat).map(([name, { type, of = name }]) => ({ name: named(name), type, description: meaningOf(section.block, of) })),
      ...(isCovered(section) ? [{ name: named('coverage'), type: 'text' as const, description: COVERAGE_MEANING }] : []),
    ];
  });
}

/** Returns whether a section has a coverage column. `basic` has no coverage column, because every published parcel is mapped. */
function isCovered({ name, coverage }: Section): boolean {
  return coverage === 'meta' && name !== 'basic';
}

function chosen(sections: readonly string[]): readonly Section[] {
  return SECTIONS.filter(({ name }) => sections.includes(name));
}

/**
 * Parses a list of sections.
 * @param text names separated by commas, or `all`; undefined for the usual sections
 * @returns the sections in the order of the record, always including `basic`
 * @throws MappaleError `SECTION_UNKNOWN` (exit 2)
 */
export function parseSections(text: string | undefined): readonly string[] {
  if (text === 'all') return SECTION_NAMES;
  if (text === undefined) return SECTIONS.filter(({ usual }) => usual).map(({ name }) => name);
  return chooseSections(`basic,${text}`, 'all, or ');
}

/** Returns the description of the value at a path in a block. @throws Error for a path that the block does not have, which is a bug in the section */
function meaningOf(block: z.ZodType, path: string): string {
  const meanings: string[] = [];
  let schema = plain(block);
  for (const step of path.split('.')) {
    if (schema instanceof z.ZodArray) {
      if (step === 'length') return 'Number of elements; null: unknown, or not applicable';
      schema = plain(schema.element as z.ZodType);
      if (/^\d+$/.test(step)) continue;
    }
    const field = schema instanceof z.ZodObject ? (schema.shape[step] as z.ZodType | undefined) : undefined;
    if (field === undefined) throw new Error(`the block has no field ${path}`);
    const described = descriptionOf(field);
    if (described !== undefined) meanings.push(described);
    schema = plain(field);
  }
  return meanings.at(-1) ?? path;
}

function descriptionOf(schema: z.ZodType): string | undefined {
  return schema.description ?? (schema instanceof z.ZodOptional ? descriptionOf(schema.def.innerType as z.ZodType) : undefined);
}

/** Returns the inner schema of optional and nullable schemas. */
function plain(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return plain(schema.def.innerType as z.ZodType);
  if (schema instanceof z.ZodUnion) {
    const some = (schema.options as readonly z.ZodType[]).find((option) => !(option instanceof z.ZodNull));
    return some === undefined ? schema : plain(some);
  }
  return schema;
}

/** Calls a function of the schema `api` that returns one row. */
export type Ask = <T extends Record<string, unknown>>(statement: string, parameters: readonly unknown[]) => Promise<T>;

/** The row that a function of the schema `api` returns. */
export type AnswerRows = {
  /** Text that identifies the publications that were read. */
  readonly publication: string;
  /** JSON text; null if nothing was found. */
  readonly answer: string | null;
};

type SectionRow = readonly [fid: number, coverage: string | null, cells: readonly Cell[] | null];

/** Values of parcels, and the publications from which the values come. */
export interface Rows {
  readonly publication: string;
  readonly cells: ReadonlyMap<number, readonly Cell[]>;
}

/**
 * Reads the values of published parcels, in the order of `columnsOf`. Omits fids that are not published.
 * @throws MappaleError (kind `database`)
 */
export async function rowsOf(ask: Ask, fids: readonly number[], sections: readonly string[]): Promise<Rows> {
  const { publication, answer } = await ask<AnswerRows>('select publication, answer from api.parcel_columns($1, $2)', [fids, sections]);
  return { publication, cells: cellsOf(answer, sections) };
}

/** Parses the JSON text that `api.parcel_columns` returns. Returns the values by fid, in the order of `columnsOf`. */
export function cellsOf(answer: string | null, sections: readonly string[]): ReadonlyMap<number, readonly Cell[]> {
  const found = JSON.parse(answer ?? '{}') as Readonly<Record<string, readonly SectionRow[]>>;
  const list = chosen(sections);
  const width = columnsOf(sections).length;
  const cells = new Map<number, Cell[]>();
  let at = 0;
  for (const section of list) {
    const own = Object.keys(section.flat).length;
    const counts = Object.values(section.flat).findIndex(({ of }) => of === 'length');
    for (const [fid, coverage, values] of found[section.name] ?? []) {
      let row = cells.get(fid);
      // If requested, the section `basic` comes first and contains every published parcel.
      if (row === undefined) cells.set(fid, row = new Array<Cell>(width).fill(null));
      if (values !== null) for (let index = 0; index < own; index += 1) row[at + index] = values[index] ?? null;
      // A list without elements in a mapped parcel has the length 0.
      else if (counts !== -1 && coverage === 'mapped') row[at + counts] = 0;
      if (isCovered(section)) row[at + own] = coverage;
    }
    at += own + (isCovered(section) ? 1 : 0);
  }
  return cells;
}

/** A licence, as in the records of the API. */
export interface Licence {
  readonly section: string;
  readonly source: string;
  readonly holder: string;
  readonly license: string;
  readonly url: string;
  readonly reference_period: string | null;
  readonly attribution: string;
}

/** Returns the licences of the sections' data. @param region region code; null for all published regions */
export async function licencesOf(ask: Ask, region: number | null, sections: readonly string[]): Promise<readonly Licence[]> {
  const { answer } = await ask<AnswerRows>('select publication, answer from api.column_licenses($1, $2)', [region, sections]);
  return JSON.parse(answer ?? '[]') as Licence[];
}
