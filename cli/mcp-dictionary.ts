/** Provides the data dictionary as resources of the Model Context Protocol, one for each section of the record. */
import { z } from 'zod';
import type { MapPanel } from '../pipelines/contract/section-map.ts';
import { mapOf } from '../pipelines/contract/section-maps.ts';
import { SECTIONS } from '../pipelines/contract/sections.ts';

type Json = Readonly<Record<string, unknown>>;

interface Field {
  readonly description?: string;
  readonly unit?: string;
  readonly values?: Readonly<Record<string, string>>;
}

interface Schema extends Json {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly $ref?: string;
}

/** Returns a schema and, recursively, its alternatives, its list items and the definition that it refers to. */
function partsOf(schema: Schema, definitions: Readonly<Record<string, Schema>>): readonly Schema[] {
  const named = schema.$ref === undefined ? undefined : definitions[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)];
  const inner = [...schema.anyOf ?? [], ...schema.allOf ?? [], schema.items, named].filter((each) => each !== undefined);
  return [schema, ...inner.flatMap((each) => partsOf(each, definitions))];
}

/** Returns the fields of a section's schema, each with its path. The fields of a geometry are omitted. */
function fieldsOf(schema: Schema, definitions: Readonly<Record<string, Schema>>, panel: MapPanel, before = ''): [string, Field][] {
  return partsOf(schema, definitions).flatMap(({ properties = {} }) => Object.entries(properties).flatMap(([name, field]): [string, Field][] => {
    const parts = partsOf(field, definitions);
    const description = parts.find((each) => each.description !== undefined)?.description;
    const unit = panel.units?.[name];
    const words = parts.flatMap((each) => each.enum ?? []).map(String).flatMap((value): [string, string][] => {
      const word = panel.values?.[value];
      return word === undefined ? [] : [[value, word]];
    });
    const own: Field = {
      ...(description === undefined ? {} : { description }), ...(unit === undefined ? {} : { unit: unit === 'share' ? 'share of 1' : unit }),
      ...(words.length === 0 ? {} : { values: Object.fromEntries(words) }),
    };
    return [[before + name, own], ...(name === 'geometry' ? [] : fieldsOf(field, definitions, panel, `${before}${name}.`))];
  }));
}

interface Entry {
  /** Name of the section that the resource describes. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly uri: string;
}

export const DICTIONARY: readonly Entry[] = SECTIONS.map(({ name, title }) => ({
  name, title: `Fields of section ${name}: ${title}`, description: 'Meaning, unit and possible values of each field', uri: `mappale://dictionary/${name}`,
}));

/** Returns the data dictionary of a section, or null if there is no such section. */
export function dictionaryOf(name: string): Json | null {
  const section = SECTIONS.find((each) => each.name === name);
  if (section === undefined) return null;
  const { $defs = {}, ...schema } = z.toJSONSchema(section.block) as Schema & { $defs?: Readonly<Record<string, Schema>> };
  return { section: name, title: section.title, fields: Object.fromEntries(fieldsOf(schema, $defs, mapOf(name).panel)) };
}
