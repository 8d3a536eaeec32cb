/** Reads SQL files for the architecture tests. */

/** Returns the text with comments and quoted parts blanked, with unchanged offsets and lines. Function bodies between `$$` are code and are kept. */
export function code(text: string): string {
  return text.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"/g, (found) => found.replace(/[^\n]/g, ' '));
}

/** SQL keywords, types and functions that the project's SQL must write in lower case. */
const WORDS = new Set(
  `add all alter analyze and any array as asc attach authorization begin between by cascade case cast check cluster collate column comment commit
   concurrently conflict constraint copy create cross current_date current_timestamp database declare default deferrable deferred delete desc detach
   distinct do domain drop else end enum except exclude execute exists explain extension extract false fetch filter first following for foreign from
   full function generated grant group having if ilike immutable in include index inherits inner insert intersect interval into is isnull join key
   language last lateral leading leakproof left like limit list local lock logged materialized merge natural no not nothing notnull null nullif nulls
   of offset on only or order ordinality outer over owner parallel partition plpgsql preceding primary privileges procedure public raise range
   recursive references refresh rename replace reset restrict return returning returns revoke right role rollback row rows safe schema security
   select sequence session set setof similar some sql stable statement storage strict table tablespace temp temporary then to trailing transaction
   trigger trim true truncate type unbounded union unique unlogged update usage user using vacuum values view volatile when where window with within
   without work
   bigint bool boolean bytea char date double float float4 float8 geography geometry int int2 int4 int8 integer json jsonb name numeric precision real
   record regclass serial smallint text time timestamp timestamptz uuid varchar void xml zone
   abs array_agg avg ceil coalesce count dense_rank floor greatest jsonb_agg jsonb_build_object least length lower max min mod now rank round
   row_number string_agg sum to_jsonb trim_scale upper`.split(/\s+/),
);

/** Returns the SQL words that are not in lower case, including functions of PostGIS. */
export function shouted(text: string): { readonly word: string; readonly offset: number }[] {
  return [...code(text).matchAll(/\b[A-Za-z_]\w*\b/g)]
    .map((match) => ({ word: match[0], offset: match.index }))
    .filter(({ word }) => word !== word.toLowerCase() && (WORDS.has(word.toLowerCase()) || /^st_/i.test(word)));
}

/** Returns the lines of the comment at the start of a file. */
export function header(text: string): string[] {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('--'));
  return lines.slice(0, end < 0 ? undefined : end);
}

/** Returns the values of a key in the opening comment. A well-formed header has exactly one value of each key. */
export function headerValues(text: string, key: string): string[] {
  return header(text).flatMap((line) => new RegExp(`^-- ${key}: (.*\\S)\\s*$`).exec(line)?.[1] ?? []);
}

/** Tables that a load.sql creates in its workspace and that the program reads. Headers name these tables without a schema. */
const REPORTED = ['duplicate', 'entangled', 'place', 'reject'];

/** Parses `layer.a, core.b` into two names, and `none` into an empty list. Names of `REPORTED` need no schema. Returns null for any other text. */
export function relations(value: string): string[] | null {
  if (value === 'none') return [];
  const names = value.split(/,\s*/);
  return names.every((name) => REPORTED.includes(name) || /^[a-z_]+\.[a-z0-9_]+$/.test(name)) ? names : null;
}

/** Returns the names of the tables, views, functions and procedures that the file creates, as written in the file. */
export function created(text: string): string[] {
  return [
    ...code(text).matchAll(
      /\bcreate\s+(?:or\s+replace\s+)?(?:unlogged\s+|temp\s+|temporary\s+|materialized\s+)*(?:table|view|function|procedure)\s+(?:if\s+not\s+exists\s+)?([a-z_][\w.]*)/g,
    ),
  ].map((match) => match[1]!);
}

/** Returns each relation that the code names with the schema `core`, `section`, `layer`, `ledger` or `previous`. Function calls are left out. */
export function qualified(text: string): string[] {
  return [...new Set([...code(text).matchAll(/\b((?:core|section|layer|ledger|previous)\.[a-z_]\w*)\b(?!\s*\()/g)].map((match) => match[1]!))];
}
