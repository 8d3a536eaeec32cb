-- purpose: tables and functions of the sections, written from the listing, so that no file names a section
-- reads: none
-- writes: none
-- grain: one table, or one function for all sections
-- crs: EPSG:4326

-- statement: table
create table if not exists :"relation" (
  :"columns",
  primary key (:"key")
) partition by range (fid);
comment on table :"relation" is :'description';
:"comments";

-- statement: column
:"name" :"type"

-- statement: required_column
:"name" :"type" not null

-- statement: comment
comment on column :"relation".:"name" is :'description';

-- statement: functions
create or replace function api.section_record(p_section text, p_fid int4, out value json, out linked bool)
language plpgsql stable as $$
declare
  v_found record;
begin
  -- Named one by one: what is put together at run time is planned anew at every call.
  case p_section
    :"records"
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
    :"reaches"
    else return null;
  end case;
end
$$;
comment on function api.section_reached(text, int4, text, geometry) is 'Whether the files of a section reach a point (EPSG:4326) of a comune, by a rule of its own: mapped, not_mapped, not_loaded; as_found: the section says it of each parcel; null: it has none';

create or replace function api.covered_sections() returns text[]
language sql immutable parallel safe as $$
  select array[:'covered']
$$;
comment on function api.covered_sections() is 'Sections of which meta.coverage speaks; the blocks of the others say themselves what covers the place';

create or replace function api.known_sections() returns setof text
language sql immutable parallel safe as $$
  select unnest(array[:'names'])
$$;
comment on function api.known_sections() is 'Names of all sections, in the order of a record';

-- statement: record
when :'name' then v_found := api.:"function"(p_fid);

-- statement: reach
when :'name' then return api.:"function"(p_region, p_belfiore, p_point);
