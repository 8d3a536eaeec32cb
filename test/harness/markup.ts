/** Adds markup to every text that a publisher controls in the tables of a loaded region, and checks pages that show these texts. */
import type { Page } from 'playwright-core';
import type { Database } from '../../pipelines/db/index.ts';

/** Names of columns with free text. Each name has a list of exceptions: tables in which the column is a key or a code. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  name: ['core.comune_name', 'core.raster_tile', 'core.region'],
  name_other: [],
  province_name: [],
  comune_name: [],
  region_name: [],
  locality: [],
  display_name: [],
  display_localita: [],
  odonimo: [],
  localita: [],
  address: [],
  type: ['core.quotation', 'layer.omi_quotation', 'layer.dbsn_building'],
  categories: [],
  class: ['layer.flood_coverage', 'layer.flood_hazard', 'layer.flood_hazard_piece', 'layer.landslide_hazard', 'layer.landslide_hazard_piece'],
  description: [],
  label: ['layer.cadastral_parcel', 'layer.cadastral_sheet'],
  brand: [],
  comune: [],
  catalog_code: [],
  seismic_zone_label: [],
};

/** Columns of the ledger with texts of publishers. */
const LEDGER: readonly (readonly [table: string, column: string])[] = [
  ['ledger.file', 'name'], ['ledger.file', 'path'], ['ledger.reject', 'message'],
  ['ledger.attribution', 'attribution'], ['ledger.attribution', 'holder'], ['ledger.attribution', 'license'], ['ledger.attribution', 'source'], ['ledger.attribution', 'reference_period'],
];

/** URL that runs code when a user follows it. */
const CODE_URL = 'javascript:window.pwned=1';

/** Returns the markup that is appended to the texts of a column. The markup contains the column's name, so that a test can find the column on a page. */
export function markupOf(column: string): string {
  return ` <img src=x onerror=window.pwned=1>"'><svg onload=window.pwned=1><script>window.pwned=1</script>{{7*7}}\${7*7}&lt;b&gt; ${column}!`;
}

/** Appends markup to every text that a publisher controls. @returns the changed columns, each as `schema.table.column` */
export async function writeMarkup(database: Database): Promise<string[]> {
  const found = await database.query<{ relation: string; name: string }>(
    `select n.nspname || '.' || c.relname as relation, a.attname as name
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid
     where n.nspname in ('core', 'section', 'layer') and c.relkind in ('r', 'p') and not c.relispartition and a.attnum > 0 and a.atttypid = 'text'::regtype order by 1, 2`,
  );
  const free = found.filter(({ relation, name }) => COLUMNS[name]?.includes(relation) === false);
  const columns = [...free.map(({ relation, name }) => [relation, name] as const), ...LEDGER];
  for (const [relation, name] of columns) {
    await database.query(`update ${relation} set "${name}" = "${name}" || $1::text where "${name}" <> ''`, [markupOf(`${relation}.${name}`)]);
  }
  await database.query('update ledger.attribution set url = $1', [CODE_URL]);
  await writeCitations(database);
  return columns.map((column) => column.join('.'));
}

/**
 * Adds markup to citations. Records take their licences from citations, which were built from attributions. The new citations have new ids, because servers in
 * the same process share a cache of the licences by id.
 */
async function writeCitations(database: Database): Promise<void> {
  for (const { citation, licenses } of await database.query<{ citation: string; licenses: string[] }>("select citation::text, licenses from ledger.citation where licenses <> '{}'")) {
    const marked = licenses.map((license) => {
      const { attribution, license: terms, source, ...rest } = JSON.parse(license) as Record<string, unknown>;
      const texts = { attribution, license: terms, source };
      const withMarkup = Object.entries(texts).map(([name, text]) => [name, typeof text === 'string' ? text + markupOf(`ledger.attribution.${name}`) : text]);
      return JSON.stringify({ ...rest, ...Object.fromEntries(withMarkup) as object, url: CODE_URL });
    });
    await database.query(
      `with added as (
         insert into ledger.citation
         select md5(section || array_to_string($2::text[], ''))::uuid, section, source, source_ids, $2::text[], terms from ledger.citation where citation = $1::uuid
         returning citation
       )
       update ledger.cited c set citation = a.citation from added a where c.citation = $1::uuid`, [citation, marked],
    );
    await database.query('delete from ledger.citation where citation = $1::uuid', [citation]);
  }
}

/** Elements that a publisher's markup could add. Neither the map library nor the pages add such elements. */
const FOREIGN = ['img', 'svg', 'script', 'iframe', 'object', 'embed'] as const;

type Counts = Readonly<Record<string, number>>;

/** Counts the elements of `FOREIGN` in the HTML of a page, by name. */
export function countsOf(page: string): Counts {
  return Object.fromEntries(FOREIGN.map((name) => [name, [...page.matchAll(new RegExp(`<${name}[\\s>]`, 'g'))].length]));
}

export interface Audit {
  /** Whether code in a text was executed. */
  readonly ran: boolean;
  readonly counts: Counts;
  /** Elements with an event handler as an attribute. */
  readonly handlers: readonly string[];
  /** URLs with the scheme `javascript:`. */
  readonly urls: readonly string[];
}

/** Returns the effects of markup on a page. Also returns the columns whose markup the page shows as text or as JSON text. */
export async function auditOf(page: Page, columns: readonly string[]): Promise<Audit & { readonly shown: readonly string[] }> {
  const { text, ...audit } = await page.evaluate<Audit & { readonly text: string }>(`(() => {
    const all = [...document.querySelectorAll('*')];
    const attributes = all.flatMap((each) => [...each.attributes]);
    return {
      ran: 'pwned' in window,
      counts: Object.fromEntries(${JSON.stringify(FOREIGN)}.map((name) => [name, all.filter((each) => each.localName === name).length])),
      handlers: all.filter((each) => [...each.attributes].some(({ name }) => /^on/i.test(name))).map((each) => each.outerHTML.slice(0, 80)),
      urls: attributes.filter(({ name, value }) => /^(href|xlink:href|src|action|formaction)$/i.test(name) && /^\\s*javascript:/i.test(value)).map(({ value }) => value),
      text: document.body.textContent,
    };
  })()`);
  // The map adds characters at which long words may break.
  const plain = text.replaceAll('\u200b', '');
  const shows = (markup: string): boolean => plain.includes(markup) || plain.includes(JSON.stringify(markup).slice(1, -1));
  return { ...audit, shown: columns.filter((column) => shows(markupOf(column))) };
}
