/** What the architecture tests read out of SQL files. */

/** The text with comments and quoted things blanked, offsets and lines kept. Bodies between `$$` are code and stay. */
export function code(text: string): string {
  return text.replace(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"(?:[^"]|"")*"/g, (found) => found.replace(/[^\n]/g, ' '));
}

/** PostgreSQL's words that these files may use; in lower case. Types and functions are words too. */
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

/** Words of SQL that are not in lower case, functions of PostGIS included. */
export function shouted(text: string): { readonly word: string; readonly offset: number }[] {
  return [...code(text).matchAll(/\b[A-Za-z_]\w*\b/g)]
    .map((match) => ({ word: match[0], offset: match.index }))
    .filter(({ word }) => word !== word.toLowerCase() && (WORDS.has(word.toLowerCase()) || /^st_/i.test(word)));
}

/** The lines of the comment that opens a file. */
export function header(text: string): string[] {
  const lines = text.split('\n');
  const end = lines.findIndex((line) => !line.startsWith('--'));
  return lines.slice(0, end < 0 ? undefined : end);
}

/** Values of a key in the opening comment; well-formed headers have exactly one. */
export function headerValues(text: string, key: string): string[] {
  return header(text).flatMap((line) => new RegExp(`^-- ${key}: (.*\\S)\\s*$`).exec(line)?.[1] ?? []);
}

/** What load.sql tells the machine in its workspace: tables of no schema. */
const TOLD = ['duplicate', 'entangled', 'place', 'reject'];

/** `layer.a, core.b` → two names; `none` → none. Null when it is neither. */
export function relations(value: string): string[] | null {
  if (value === 'none') return [];
  const names = value.split(/,\s*/);
  return names.every((name) => TOLD.includes(name) || /^[a-z_]+\.[a-z0-9_]+$/.test(name)) ? names : null;
}

/** Tables, views and functions that the file creates, as it names them. */
export function created(text: string): string[] {
  return [
    ...code(text).matchAll(
      /\bcreate\s+(?:or\s+replace\s+)?(?:unlogged\s+|temp\s+|temporary\s+|materialized\s+)*(?:table|view|function|procedure)\s+(?:if\s+not\s+exists\s+)?([a-z_][\w.]*)/g,
    ),
  ].map((match) => match[1]!);
}

/** Relations that the code names with their schema, other than in calls of functions. */
export function qualified(text: string): string[] {
  return [...new Set([...code(text).matchAll(/\b((?:core|section|layer|ledger|previous)\.[a-z_]\w*)\b(?!\s*\()/g)].map((match) => match[1]!))];
}
