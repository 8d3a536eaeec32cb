-- purpose: templates of tables and functions that are generated from the list of sections
-- reads: none
-- writes: none
-- grain: one table, or one function for all sections
-- crs: EPSG:4326

-- statement: table
create table if not exists :"relation" (
  :"columns",
  primary key (:"key")
) partition by range (fid);
-- Adds the columns that a table of an earlier version lacks. An added column is null in existing rows.
:"added"
comment on table :"relation" is :'description';
:"comments";

-- statement: column
:"name" :"type"

-- statement: required_column
:"name" :"type" not null

-- statement: added_column
alter table :"relation" add column if not exists :"name" :"type"

-- statement: comment
comment on column :"relation".:"name" is :'description';

-- statement: functions
create or replace function api.section_record(p_section text, p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found record;
begin
  -- Uses a case expression. PostgreSQL would plan a dynamic statement again at every call. A case statement would evaluate one expression for each section that
  -- precedes the given section.
  v_found := case p_section
    :"records"
  end;
  value := v_found.value;
  linked := v_found.linked;
  keys := v_found.keys;
end
$$;
comment on function api.section_record(text, int4, anyelement) is 'Block of a section as JSON. Result linked is true if the loaded data covers the parcel (null: the section does not report this). Result keys contains the keys of the parcel in ledger.cited, from which api.cite finds the sources of the values';

create or replace function api.section_reached(p_section text, p_region int4, p_belfiore text, p_point geometry, p_from anyelement) returns text
language plpgsql stable as $$
begin
  return case p_section
    :"reaches"
  end;
end
$$;
comment on function api.section_reached(text, int4, text, geometry, anyelement) is 'Coverage of a point (EPSG:4326) in a comune by the rule of a section: mapped, not_mapped, not_loaded, or a value that the caller resolves for each parcel. Value as_found: the section reports the coverage of each parcel. Value if_found: the parcel is mapped only if the section has a value. Value partly_if_linked: the coverage is partial if the section reports linked as true. The result is null if the section has no rule';

create or replace function api.is_applicable(p_section text, p_kind text) returns bool
language sql immutable parallel safe as $$
  select case p_kind
    :"kinds"
    else true
  end
$$;
comment on function api.is_applicable(text, text) is 'True if a section exists for a kind of parcel (land, road, water), or if the kind is null';

create or replace function api.section_columns(p_section text, p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
begin
  case p_section
    :"rows"
  end case;
end
$$;
comment on function api.section_columns(text, int4[], anyelement) is 'Values of a section for many parcels. Column cells is an array of the values in the order that the section defines. Column linked has the same meaning as result linked of api.section_record. Column found is true if the section has content. A parcel without content may have no row';

create or replace function api.covered_sections() returns text[]
language sql immutable parallel safe as $$
  select array[:'covered']
$$;
comment on function api.covered_sections() is 'Sections with an entry in meta.coverage. The blocks of the other sections contain the coverage';

create or replace function api.pointwise_sections() returns text[]
language sql immutable parallel safe as $$
  select array[:'pointwise']
$$;
comment on function api.pointwise_sections() is 'Sections whose coverage depends on the point of the parcel, and not only on the comune and the found values';

create or replace function api.known_sections() returns setof text
language sql immutable parallel safe as $$
  select unnest(array[:'names'])
$$;
comment on function api.known_sections() is 'Names of all sections, in the order of a record';

-- statement: record
when :'name' then api.:"function"(p_fid, p_from)

-- statement: reach
when :'name' then api.:"function"(p_region, p_belfiore, p_point, p_from)

-- statement: kind
when :'kind' then p_section = any (array[:'sections'])

-- statement: row
when :'name' then return query select * from api.:"function"(p_fids, p_from)
