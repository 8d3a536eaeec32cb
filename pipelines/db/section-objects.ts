/**
 * Returns the database objects of the sections: tables with their history and views, and functions. The objects follow from `section.ts` and `record.sql` of
 * each section, so no separate list is needed.
 */
import type { Table } from '../contract/section.ts';
import { SECTIONS } from '../contract/sections.ts';
import { schemaOf, tableOf, type Relation, type SqlFile } from '../contract/sql-files.ts';
import { PROVENANCE } from './comparing.ts';
import { catalogType, definedFunctions } from './function-text.ts';
import { OF_PARCELS, touchingFunctions } from './history.ts';
import type { Expected, Found } from './objects.ts';
import { readByRecords, recordFiles } from './record-tables.ts';
import { sectionFunctions, SECTIONS_FILE } from './section-functions.ts';

type Object = Pick<Found, 'kind' | 'name' | 'definition'>;

/** Returns whether a file creates objects that `sectionObjects` returns. */
export function isOfSection({ file, section }: Pick<SqlFile, 'file' | 'section'>): boolean {
  return section !== null || file === SECTIONS_FILE;
}

/**
 * Returns the expected database objects of all sections.
 * @param tables partition keys of all other tables, by table; empty for a table without partitions
 */
export function sectionObjects(tables: Readonly<Record<string, string>>): Object[] {
  const ofSections = SECTIONS.flatMap((section) => Object.entries(section.tables));
  const split = (relation: Relation): string | null => (ofSections.some(([name]) => name === relation) ? OF_PARCELS : tables[relation] || null);
  const functions = [
    ...[...recordFiles().filter(({ section }) => section !== null), sectionFunctions()].flatMap(definedFunctions),
    ...definedFunctions(touchingFunctions(readByRecords().map((relation) => ({ relation, split: split(relation) })))),
  ];
  return [
    ...ofSections.flatMap(([relation, table]) => tableObjects(relation as Relation, table)),
    ...functions.map(({ name, definition }): Object => ({ kind: 'function', name, definition })),
    ...functions.filter(({ name }) => name.startsWith('api.')).map(({ name }): Object => ({ kind: 'grant', name, definition: '' })),
  ];
}

/** Returns the objects of a section's table: the table, its history, the view of past rows and the view of a region, each with columns. */
function tableObjects(relation: Relation, { key, columns }: Table): Object[] {
  const name = tableOf(relation);
  const object = (kind: Object['kind'], of: string, definition = ''): Object => ({ kind, name: of, definition });
  const column = (schema: string, each: string, type: string, isRequired = false): Object => object('column', `${schema}.${name}.${each}`, `${catalogType(type)}${isRequired ? ' not null' : ''}`);
  const all = Object.entries(columns);
  return [
    object('table', relation, OF_PARCELS),
    object('table', `history.${name}`),
    object('view', `past.${name}`, `history.${name}, ${relation}`),
    object('view', `region_N.${name}`, relation),
    object('constraint', `${relation} PRIMARY KEY (${key.join(', ')})`),
    object('constraint', `history.${name} PRIMARY KEY (${key.join(', ')}, until_swap)`),
    object('index', `history.${name} USING btree (until_swap, fid)`),
    ...all.flatMap(([each, { type, null: empty }]) => [
      column(schemaOf(relation), each, type, empty === undefined || key.includes(each)),
      column('past', each, type),
      column('region_N', each, type),
      ...(PROVENANCE.includes(each) ? [] : [column('history', each, type, key.includes(each))]),
    ]),
    column('history', 'from_swap', 'int4', true), column('history', 'until_swap', 'int4', true), column('history', 'absent', 'bool', true),
  ];
}

/**
 * Returns the listed objects and the objects of sections and layers. A listed definition has priority, for example if a migration gave a column a default.
 * @param listed objects in `sql/objects.json`
 * @param layers objects of the layers
 */
export function withSections(listed: Expected['objects'], layers: readonly Object[]): Expected['objects'] {
  const all: Record<string, Record<string, string>> = {};
  const add = ({ kind, name, definition }: Object): void => void ((all[kind] ??= {})[name] = definition);
  layers.forEach(add);
  sectionObjects({ ...all['table'], ...listed.table }).forEach(add);
  for (const [kind, byName] of Object.entries(listed)) Object.assign(all[kind] ??= {}, byName);
  return all;
}
