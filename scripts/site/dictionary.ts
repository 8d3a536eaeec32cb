/**
 * Writes the data dictionary. Each section has a page, from the section's `section.ts` and `map.ts`. All tables are on one page, from the comments in the
 * database.
 */
import { z } from 'zod';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import type { Column, Section } from '../../pipelines/contract/section.ts';
import { mapOf } from '../../pipelines/contract/section-maps.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import { columnsOf } from '../../pipelines/deliver/columns.ts';
import { sourcesOf } from './feeds.ts';
import { anchor, code, escaped, facts, link, page, prose, table, type Page } from './markdown.ts';
import type { DatabaseTable } from './tables.ts';

/** The parts of JSON Schema that the pages show. */
interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly anyOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** Names of JSON Schema types on the pages. */
const TYPES = new Map([['integer', 'whole number'], ['string', 'text'], ['boolean', 'true or false']]);

type Field = readonly [path: string, type: string, meaning: string];

/** Returns all fields of a section's record. Fields inside lists and objects have a path with dots. */
export function fieldsOf(block: z.ZodType): Field[] {
  const root = z.toJSONSchema(block) as Schema;
  const plain = (schema: Schema): Schema => (schema.$ref === undefined ? schema : { ...root.$defs?.[schema.$ref.replace('#/$defs/', '')], ...(schema.description === undefined ? {} : { description: schema.description }) });
  const choices = (schema: Schema): readonly Schema[] => (plain(schema).anyOf?.map(plain) ?? [plain(schema)]).flatMap((choice) => {
    const { type } = choice;
    return typeof type === 'string' || type === undefined ? [choice] : type.map((each) => ({ ...choice, type: each }));
  });
  const typed = (schema: Schema): string => [...new Set(choices(schema).map((choice) => {
    if (choice.enum !== undefined || choice.const !== undefined) return (choice.enum ?? [choice.const]).map((value) => String(value)).join(', ');
    if (choice.type === 'array') return `list of ${choice.items === undefined ? 'values' : typed(choice.items)}`;
    const bounds = choice.type === 'number' && choice.minimum !== undefined && choice.maximum !== undefined ? ` ${choice.minimum}–${choice.maximum}` : '';
    return `${TYPES.get(String(choice.type)) ?? String(choice.type ?? 'any')}${bounds}`;
  }))].join(' or ');
  const inside = (schema: Schema, path: string): Field[] => choices(schema).flatMap((choice): Field[] => {
    if (choice.items !== undefined) return inside(choice.items, path);
    return Object.entries(choice.properties ?? {}).flatMap(([name, field]): Field[] => {
      const own = path === '' ? name : `${path}.${name}`;
      // Leaves out the coordinates of a geometry, because the description of the geometry explains the coordinates.
      const below = name === 'geometry' ? [] : inside(field, own);
      return [[own, typed(field), field.description ?? plain(field).description ?? ''], ...below];
    });
  });
  return inside(root, '').filter(([path], index, all) => all.findIndex(([other]) => other === path) === index);
}

/** Returns the unit of each field, from the columns and the map of a section. */
function unitsOf({ name: section, tables, flat }: Section): ReadonlyMap<string, string> {
  const columns = Object.values(tables).flatMap(({ columns: all }) => Object.entries(all));
  const ofColumns = columns.flatMap(([name, { unit }]): [string, string][] => (unit === undefined ? [] : [[flat[name]?.of ?? name, unit], [name, unit]]));
  return new Map([...ofColumns, ...Object.entries(mapOf(section).panel.units ?? {})]);
}

function columnTable(columns: Readonly<Record<string, Column>>): string {
  return table(['Column', 'Type', 'Unit', 'Meaning', 'Null'], Object.entries(columns).map(([name, { type, unit, description, null: empty }]) => [
    code(name), escaped(type), escaped(unit ?? ''), prose(description), empty === undefined ? 'never' : prose(empty),
  ]));
}

const COVERAGE: Readonly<Record<Section['coverage'], string>> = {
  meta: '`meta.coverage` states whether the sources cover the place. An empty block means “none here” only with `mapped`. Parcels of other kinds have `not_applicable`',
  block: 'the block states for each field whether the sources cover the place',
};

function sectionPage(section: Section, sources: readonly RegisteredSource[]): Page {
  const units = unitsOf(section);
  return page(`sections/${section.name}.md`, `${section.title} (${section.name})`, [
    facts([
      ['In a record', code(`include=${section.name}`)],
      ['Kinds of parcel', section.kinds.join(', ')],
      ['Block', prose(section.block.description ?? 'an object')],
      ['Coverage', COVERAGE[section.coverage]],
      ['Sources', sourcesOf(section, sources).map(({ id, manifest }) => `${link(`/sources/${id}.md`, manifest.title)} (${escaped(manifest.attribution.license)})`).join(', ')],
    ]),
    '## Fields of the record',
    table(['Field', 'Type', 'Unit', 'Meaning, including that of null'], fieldsOf(section.block).map(([path, type, meaning]) => [
      code(path), escaped(type), escaped(units.get(path) ?? units.get(path.split('.').at(-1)!) ?? ''), prose(meaning),
    ])),
    '## Columns of exports and enriched tables',
    table(['Column', 'Type', 'Meaning'], columnsOf([section.name]).map(({ name, type, description }) => [code(name), escaped(type), prose(description)])),
    ...Object.entries(section.tables).flatMap(([relation, { description, key, columns }]) => [
      `## Table ${escaped(relation)}`, `${prose(description)}. Primary key: ${code(key.join(', '))}.`, columnTable(columns),
    ]),
  ]);
}

const SCHEMAS: Readonly<Record<string, string>> = {
  core: 'Published parcels, comuni and addresses',
  section: 'Published sections, with a row for each parcel',
  layer: 'Clean rows of the files, with a partition for each release',
  ledger: 'Record of files, rejects, builds and publications',
};

function tablesPage(tables: readonly DatabaseTable[]): Page {
  const schemas = [...new Set(tables.map(({ relation }) => relation.split('.')[0]!))].sort();
  const tablesIn = (schema: string): readonly DatabaseTable[] => tables.filter(({ relation }) => relation.startsWith(`${schema}.`));
  return page('tables.md', 'Tables of the database', [
    'This page lists the tables in the format of `\\d+` in psql. Other programs read `core` and `section`. Geometries are in EPSG:4326.',
    table(['Schema', 'Content', 'Tables'], schemas.map((schema) => [link(`#${schema}`, schema), SCHEMAS[schema] ?? '', String(tablesIn(schema).length)])),
    ...schemas.flatMap((schema) => [`## ${schema}`, ...tablesIn(schema).flatMap(({ relation, comment, columns }) => [
      `### ${escaped(relation)}`, prose(comment),
      table(['Column', 'Type', 'Meaning'], columns.map((column) => [code(column.name), escaped(column.type), prose(column.comment)])),
    ])]),
  ]);
}

/** Returns a link to a table's heading on the page of tables. */
export function tableLink(relation: string): string {
  return link(`/tables.md#${anchor(relation)}`, relation);
}

export function dictionaryPages(sources: readonly RegisteredSource[], tables: readonly DatabaseTable[]): Page[] {
  return [
    page('dictionary.md', 'Data dictionary', [
      'A record consists of sections. Each section has fields, columns for exports, tables, and sources with licences.',
      table(['Section', 'Name', 'Fields', 'Sources'], SECTIONS.map((section) => [
        link(`/sections/${section.name}.md`, section.title), code(section.name), String(fieldsOf(section.block).length),
        sourcesOf(section, sources).map(({ id }) => link(`/sources/${id}.md`, id)).join(', '),
      ])),
      `The comments of the database describe its ${link('/tables.md', 'tables and columns')}.`,
    ]),
    ...SECTIONS.map((section) => sectionPage(section, sources)),
    tablesPage(tables),
  ];
}
