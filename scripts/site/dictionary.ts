/** The data dictionary: a page for each section, from its `section.ts`, and one for the tables of the database, from their comments. */
import { z } from 'zod';
import type { Column, Section } from '../../pipelines/contract/section.ts';
import { SECTIONS } from '../../pipelines/contract/sections.ts';
import type { RegisteredSource } from '../../pipelines/contract/registry.ts';
import { columnsOf } from '../../pipelines/deliver/columns.ts';
import { feeding } from './feeds.ts';
import { code, escaped, facts, heading, link, paragraph, prose, table } from './html.ts';
import type { Page } from './page.ts';

/** JSON Schema, as far as it is looked at. */
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

/** Types in words, where they are others. */
const TYPES = new Map([['integer', 'whole number'], ['string', 'text'], ['boolean', 'true or false']]);

type Field = readonly [path: string, type: string, meaning: string];

/** Every field of a block, those inside lists and objects behind a dot. */
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
      // Coordinates of a geometry are lists of lists; what they are stands beside the geometry.
      const below = name === 'geometry' ? [] : inside(field, own);
      return [[own, typed(field), field.description ?? plain(field).description ?? ''], ...below];
    });
  });
  return inside(root, '').filter(([path], index, all) => all.findIndex(([other]) => other === path) === index);
}

/** Units that a section states of its fields, wherever it does. */
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
  meta: 'whether the sources reach the place stands in <code>meta.coverage</code>: an empty block means “none here” only where it says <code>mapped</code>. Parcels of other kinds have <code>not_applicable</code>',
  block: 'whether the sources reach the place stands in the block itself, field by field',
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
      table(['Field', 'Type', 'Unit', 'Means, and what null means'], fieldsOf(section.block).map(([path, type, meaning]) => [
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

/** A table as the database has it. */
export interface DatabaseTable {
  readonly relation: string;
  readonly comment: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly comment: string }[];
}

const SCHEMAS: Readonly<Record<string, string>> = {
  core: 'What is published of the territory: parcels, comuni, addresses',
  section: 'What is published of the sections, a row for each parcel',
  layer: 'Clean rows of the publishers\' files, a partition for each release',
  ledger: 'What was read, refused, built and published, and when',
};

function tablesPage(tables: readonly DatabaseTable[]): Page {
  const schemas = [...new Set(tables.map(({ relation }) => relation.split('.')[0]!))].sort();
  return {
    path: 'tables.html', title: 'Tables of the database', part: 'Reference', below: 'dictionary.html',
    body: [
      paragraph('As <code>\\d+</code> of psql shows them. Other programs read <code>core</code> and <code>section</code>; geometries are EPSG:4326.'),
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
        paragraph('A record is made of sections; each has its fields, the columns that exports give them, its tables, and the sources with their licences.'),
        table(['Section', 'Name', 'Fields', 'Sources'], SECTIONS.map((section) => [
          link(`/sections/${section.name}.html`, section.title), code(section.name), String(fieldsOf(section.block).length),
          feeding(section, sources).map(({ id }) => link(`/sources/${id}.html`, id)).join(', '),
        ])),
        paragraph(`What the database itself says of its tables and columns: ${link('/tables.html', 'tables of the database')}.`),
      ].join(''),
    },
    ...SECTIONS.map((section) => sectionPage(section, sources)),
    tablesPage(tables),
  ];
}
