/** Reads the definitions of functions in SQL files, and returns the definitions in the form of PostgreSQL's catalogue. */
import { sha256, type SqlFile } from '../contract/sql-files.ts';

/** A function as `sql/statements/objects.sql` lists it. */
export interface DefinedFunction {
  /** Name with the types of the arguments: `core.region_of(integer)`. */
  readonly name: string;
  /** Digest of all other properties and the body. */
  readonly definition: string;
}

/** Maps short names of types to the names in PostgreSQL's catalogue. All other types have the same name in the SQL files and in the catalogue. */
const LONG_NAMES: Readonly<Record<string, string>> = {
  int2: 'smallint', int4: 'integer', int8: 'bigint', float8: 'double precision', bool: 'boolean', timestamptz: 'timestamp with time zone',
};

/** Returns the name of a type in the catalogue. */
export function catalogType(type: string): string {
  const at = type.indexOf('[');
  const [name, array] = at < 0 ? [type, ''] : [type.slice(0, at), type.slice(at)];
  return `${LONG_NAMES[name] ?? name}${array}`;
}

const PROPERTIES = /^(?: (?:immutable|stable|volatile|strict|parallel safe))*$/;

interface Argument {
  readonly isResult: boolean;
  readonly name: string;
  readonly type: string;
}

function argumentsOf(text: string): Argument[] {
  return text.split(',').map((each) => each.trim()).filter((each) => each !== '').map((each) => {
    const [, out, name = '', type = ''] = /^(out )?(\w+) (.+)$/.exec(each) ?? [];
    return { isResult: out !== undefined, name, type: catalogType(type) };
  });
}

/** Returns the functions that a file defines. @throws Error for a definition in a different form, which is a bug */
export function definedFunctions({ file, text }: SqlFile): DefinedFunction[] {
  return text.split(/^create (?:or replace )?function /m).slice(1).map((definition) => {
    const [opened, closed, begun] = [definition.indexOf('('), definition.indexOf(')'), definition.indexOf(' as $$')];
    const [schema = '', name = ''] = definition.slice(0, opened).split('.');
    const [returns = '', rest = ''] = definition.slice(closed + 1, begun).replace(/\s+/g, ' ').split(' language ');
    const [language = ''] = rest.split(' ');
    const [properties, listed, returned] = [rest.slice(language.length), definition.slice(opened + 1, closed), returns.trim().replace(/^returns /, '')];
    const body = definition.slice(begun + ' as $$'.length).split('$$;')[0] ?? '';
    if (opened < 0 || closed < opened || begun < closed || language === '' || !PROPERTIES.test(properties)) {
      throw new Error(`${file}: expected ${schema}.${name} to have a result, a language, known properties and a body between $$`);
    }
    const all = argumentsOf(listed);
    const outs = all.filter(({ isResult }) => isResult);
    const table = returned.startsWith('table (') ? returned.slice('table ('.length, -1) : null;
    const many = returned.startsWith('setof ') ? returned.slice('setof '.length) : undefined;
    const shown = (some: readonly Argument[]): string => some.map((each) => `${each.isResult ? 'OUT ' : ''}${each.name} ${each.type}`).join(', ');
    const result = table !== null ? `TABLE(${shown(argumentsOf(table))})` : many !== undefined ? `SETOF ${catalogType(many)}`
      : returned !== '' ? catalogType(returned) : outs.length === 1 ? outs.map(({ type }) => type).join('') : 'record';
    const isSet = table !== null || many !== undefined;
    const has = (property: string, yes: string, no: string): string => (properties.includes(` ${property}`) ? yes : no);
    const volatility = has('immutable', 'i', has('stable', 's', 'v'));
    const plain = (text: string): string => text.replaceAll(`${schema}.`, '');
    return {
      name: `${schema}.${name}(${all.filter(({ isResult }) => !isResult).map(({ type }) => type).join(', ')})`,
      definition: sha256([
        plain(shown(all)), plain(result), language, volatility, has('parallel safe', 's', 'u'), has('strict', 't', 'f'), 'f', isSet ? 't' : 'f', isSet ? '1000' : '0', normalBody(body),
      ].join('|')).slice(0, 16),
    };
  });
}

/** Removes comments and blanks, like `sql/statements/objects.sql`. */
function normalBody(body: string): string {
  return body.replace(/--[^\n]*/g, '').replace(/[ \n\t\r]/g, '');
}
