-- purpose: one parcel's record
-- reads: none
-- writes: api.included, api.parcel_record
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.included(p_include text[]) returns text[]
language sql immutable parallel safe as $$
  select array['basic'] || array_remove(p_include, 'basic')
$$;
comment on function api.included(text[]) is 'Requested sections in the order of the record. Section basic is always included and is first';

create or replace function api.parcel_record(p_fid int4, p_include text[], p_from anyelement, out head text, out citations uuid[])
language plpgsql volatile as $$
declare
  v_include constant text[] := api.included(p_include);
  v_region constant int4 := core.region_of(p_fid);
  v_covered constant text[] := api.covered_sections();
  v_basic record;
  v_section text;
  v_found record;
  v_shown text;
  v_coverage text := '';
  v_blocks text[] := '{}';
  v_keys text[] := '{}';
  v_cited record;
begin
  v_basic := api.section_basic(p_fid, p_from);
  if v_basic.value is null then
    return;
  end if;
  foreach v_section in array v_include loop
    if v_section = 'basic' then
      v_found := v_basic;
    else
      v_found := api.section_record(v_section, p_fid, p_from);
    end if;
    v_shown := coalesce(v_found.value::text, 'null');
    v_blocks := v_blocks || v_shown;
    v_keys := v_keys || v_found.keys;
    -- The other sections have the coverage inside the block.
    if v_section = any (v_covered) then
      v_coverage := v_coverage || ',"' || v_section || '":"'
        || api.section_coverage(v_region, v_basic.belfiore, v_basic.point, v_basic.kind, v_section, v_found.linked, v_shown not in ('null', '[]'), p_from) || '"';
    end if;
  end loop;
  v_cited := api.cite(
    v_region, v_include, v_blocks, string_to_array(replace(array_to_string(v_keys, chr(10)), '@', v_basic.belfiore), chr(10)), p_from
  );
  -- Type json keeps the member order of the contract, and takes a third less time than jsonb, which sorts the members. Concatenates the record as text. Names
  -- of sections need no escaping.
  head := concat(
    '{"fid":',
    p_fid,
    ',"municipality":',
    v_basic.municipality,
    ',',
    v_cited.blocks,
    ',"meta":{"sections_included":',
    array_to_json(v_include),
    ',"coverage":{',
    substr(v_coverage, 2),
    '},"licenses":'
  );
  citations := v_cited.citations;
end
$$;
comment on function api.parcel_record(int4, text[], anyelement) is 'Returns the record of a parcel as JSON text up to the member licenses, and the ids of its citations (api.cited_licenses). The caller appends the licences and api.record_end. Both results are null if there is no such parcel. The caller calls api.hold_publication first, so that all sections are read from one publication. Argument p_include must contain names of sections. Argument p_from is a null of a row type in the schema of the tables to read. The schema must be in the search path';
