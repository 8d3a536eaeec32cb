/** The data dictionary: a page for each section, from its `section.ts`, and a page for the tables of the database, from their comments. */
import { z } from 'zod';
import type { Column, Section } from '../../pipelines/contract/section.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { columnsOf } from '../../pipelines/deliver/columns.ts';
import { feeding } from './feeds.ts';
import { code, escaped, facts, heading, link, paragraph, prose, table } from './html.ts';
import type { Page } from './page.ts';

/** The parts of JSON Schema that this page reads. */
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

/** Names of types for readers, if they differ. */
const TYPES = new Map([['integer', 'whole number'], ['string', 'text'], ['boolean', 'true or false']]);

type Field = readonly [path: string, type: string, meaning: string];

/** Returns every field of a block. Names of fields inside lists and objects have a dot. */
function fieldsOf(block: z.ZodType): Field[] {
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
      // Coordinates of a geometry are lists of lists, which the geometry's own description explains.
      const below = name === 'geometry' ? [] : inside(field, own);
      return [[own, typed(field), field.description ?? plain(field).description ?? ''], ...below];
    });
  });
  return inside(root, '').filter(([path], index, all) => all.findIndex(([other]) => other === path) === index);
}

/** Returns the units of a section's fields, from all its definitions. */
function unitsOf({ map, tables, flat }: Section): ReadonlyMap<string, string> {
  const columns = Object.values(tables).flatMap(({ columns: all }) => Object.entries(all));
  const ofColumns = columns.flatMap(([name, { unit }]): [string, string][] => (unit === undefined ? [] : [[flat[name]?.of ?? name, unit], [name, unit]]));
  return new Map([...ofColumns, ...Object.entries(map.units ?? {})]);
}

function columnTable(columns: Readonly<Record<string, Column>>): string {
  return table(['Column', 'Type', 'Unit', 'Means', 'Null'], Object.entries(columns).map(([name, { type, unit, description, null: empty }]) => [
    code(name), escaped(type), escaped(unit ?? ''), prose(description), empty === undefined ? 'never' : prose(empty),
  ]));
}

const COVERAGE: Readonly<Record<Section['coverage'], string>> = {
  meta: '<code>meta.coverage</code> shows whether the sources cover the place: an empty block means “none here” only if the coverage is <code>mapped</code>. Parcels of other kinds have <code>not_applicable</code>',
  block: 'the block shows for each field whether the sources cover the place',
};

function sectionPage(section: Section, sources: readonly RegisteredSource[]): Page {
  const fed = feeding(section, sources);
  const units = unitsOf(section);
  return {
    path: `sections/${section.name}.html`, title: `${section.title} (${section.name})`, part: 'Reference', below: 'dictionary.html',
    body: [
      facts([
        ['In a record', code(`include=${section.name}`)],
        ['Belongs to', escaped(section.kinds.join(', '))],
        ['Block', prose(section.block.description ?? 'an object')],
        ['Coverage', COVERAGE[section.coverage]],
        ['Made from', fed.map(({ id, manifest }) => `${link(`/sources/${id}.html`, manifest.title)} (${escaped(manifest.attribution.license)})`).join('<br>')],
      ]),
      heading(2, 'Fields of the record'),
      table(['Field', 'Type', 'Unit', 'Meaning, and meaning of null'], fieldsOf(section.block).map(([path, type, meaning]) => [
        code(path), escaped(type), escaped(units.get(path) ?? units.get(path.split('.').at(-1)!) ?? ''), prose(meaning),
      ])),
      heading(2, 'Columns of exports and enriched tables'),
      table(['Column', 'Type', 'Means'], columnsOf([section.name]).map(({ name, type, description }) => [code(name), escaped(type), prose(description)])),
      ...Object.entries(section.tables).flatMap(([relation, { description, key, columns }]) => [
        heading(2, `Table ${relation}`), paragraph(`${prose(description)}. Primary key: ${code(key.join(', '))}.`), columnTable(columns),
      ]),
    ].join(''),
  };
}

/** A table of the database. */
export interface DatabaseTable {
  readonly relation: string;
  readonly comment: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly comment: string }[];
}

const SCHEMAS: Readonly<Record<string, string>> = {
  core: 'Published data about the territory: parcels, comuni, addresses',
  section: 'Published data of the sections, one row for each parcel',
  layer: 'Clean rows of the publishers\' files, one partition for each release',
  ledger: 'Files read, records refused, tables built, and publications, with their times',
};

function tablesPage(tables: readonly DatabaseTable[]): Page {
  const schemas = [...new Set(tables.map(({ relation }) => relation.split('.')[0]!))].sort();
  return {
    path: 'tables.html', title: 'Tables of the database', part: 'Reference', below: 'dictionary.html',
    body: [
      paragraph('The columns are those of <code>\\d+</code> in psql. Other programs read <code>core</code> and <code>section</code>; geometries are EPSG:4326.'),
      table(['Schema', 'Holds', 'Tables'], schemas.map((schema) => [
        `<a href="#${escaped(schema)}">${escaped(schema)}</a>`, escaped(SCHEMAS[schema] ?? ''), String(tables.filter(({ relation }) => relation.startsWith(`${schema}.`)).length),
      ])),
      ...schemas.flatMap((schema) => [heading(2, schema), ...tables.filter(({ relation }) => relation.startsWith(`${schema}.`)).flatMap(({ relation, comment, columns }) => [
        heading(3, relation, relation.replace('.', '-')), paragraph(prose(comment)),
        table(['Column', 'Type', 'Means'], columns.map((column) => [code(column.name), escaped(column.type), prose(column.comment)])),
      ])]),
    ].join(''),
  };
}

export function dictionaryPages(sources: readonly RegisteredSource[], tables: readonly DatabaseTable[]): Page[] {
  return [
    {
      path: 'dictionary.html', title: 'Data dictionary', part: 'Reference', below: null,
      body: [
        paragraph('A record consists of sections. The page of a section lists its fields, their export columns, its tables, and its sources with their licences.'),
        table(['Section', 'Name', 'Fields', 'Sources'], SECTIONS.map((section) => [
          link(`/sections/${section.name}.html`, section.title), code(section.name), String(fieldsOf(section.block).length),
          feeding(section, sources).map(({ id }) => link(`/sources/${id}.html`, id)).join(', '),
        ])),
        paragraph(`Comments of the database on its tables and columns: ${link('/tables.html', 'tables of the database')}.`),
      ].join(''),
    },
    ...SECTIONS.map((section) => sectionPage(section, sources)),
    tablesPage(tables),
  ];
}
