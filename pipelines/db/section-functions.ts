/** The functions by which a record finds its sections: written from the listing, so that no file names them one by one. */
import { SECTION_NAMES, SECTIONS } from '../contract/sections.ts';
import { parseSqlFile, readSectionFiles, type SqlFile } from '../contract/sql-files.ts';

/** Name under which the ledger notes it; no such file exists. */
const FILE = 'sql/api/sections.sql';

/** @throws Error for a section whose `record.sql` lacks its function, or whose name is none of SQL: a bug of the project */
export function sectionFunctions(): SqlFile {
  const written = new Set(readSectionFiles('record').flatMap(({ writes }) => writes));
  for (const name of SECTION_NAMES) {
    if (!/^[a-z]+(_[a-z]+)*$/.test(name) || !written.has(`api.section_${name}`)) throw new Error(`sql/sections/${name}/record.sql: expected that it writes api.section_${name}`);
  }
  const reaching = SECTION_NAMES.filter((name) => written.has(`api.coverage_${name}`));
  const covered = SECTIONS.filter(({ coverage }) => coverage === 'meta');
  return parseSqlFile(FILE, `-- purpose: the sections of a record, by name
-- reads: none
-- writes: api.section_record, api.section_reached, api.covered_sections
-- grain: one call per section of a parcel
-- crs: EPSG:4326

create or replace function api.section_record(p_section text, p_fid int4, out value json, out linked bool)
language plpgsql stable as $$
declare
  v_found record;
begin
  -- Named one by one: what is put together at run time is planned anew at every call.
  case p_section
${SECTION_NAMES.map((name) => `    when '${name}' then v_found := api.section_${name}(p_fid);`).join('\n')}
  end case;
  value := v_found.value;
  linked := v_found.linked;
end
$$;
comment on function api.section_record(text, int4) is 'Block of a section as JSON. linked: whether what it found reaches the parcel; null: it does not say';

create or replace function api.section_reached(p_section text, p_region int4, p_belfiore text, p_point geometry) returns text
language plpgsql stable as $$
begin
  case p_section
${reaching.map((name) => `    when '${name}' then return api.coverage_${name}(p_region, p_belfiore, p_point);`).join('\n')}
    else return null;
  end case;
end
$$;
comment on function api.section_reached(text, int4, text, geometry) is 'Whether the files of a section reach a point (EPSG:4326) of a comune, by a rule of its own: mapped, not_mapped, not_loaded; null: it has none';

create or replace function api.covered_sections() returns text[]
language sql immutable parallel safe as $$
  select array[${covered.map(({ name }) => `'${name}'`).join(', ')}]
$$;
comment on function api.covered_sections() is 'Sections of which meta.coverage speaks; the blocks of the others say themselves what covers the place';
`);
}
