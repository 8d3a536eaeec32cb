-- purpose: whether an empty section means none here
-- reads: core.raster_tile, core.section_coverage, ledger.publication, ledger.publication_table, ledger.attribution
-- writes: api.comune_coverage, api.raster_reaches, api.section_coverage
-- grain: one call per section of a parcel
-- crs: EPSG:4326

create or replace function api.comune_coverage(p_region int4, p_section text, p_belfiore text, p_from anyelement) returns text
language plpgsql stable as $$
declare
  v_coverage text;
begin
  select
    case
      when bool_or(c.belfiore <> '*') then 'mapped'
      when count(*) > 0 then 'not_mapped'
    end
  into v_coverage
  from section_coverage c
  where c.region_code = p_region
    and c.section = p_section
    and c.belfiore in (p_belfiore, '*');
  if v_coverage is not null then
    return v_coverage;
  end if;
  -- No release of the section is loaded. Versions that did not record the coverage of files leave only the attributions. Attributions also name
  -- sources that only help to locate another source's points.
  return (
    select case when count(*) > 0 then 'not_mapped' else 'not_loaded' end
    from publication u
    join ledger.attribution a using (publication_id)
    where u.unit_code = p_region
      and u.state = 'current'
      and a.section = p_section
      and not exists (select from ledger.publication_table t where t.publication_id = u.publication_id and t.relation = 'core.section_coverage')
  );
end
$$;
comment on function api.comune_coverage(int4, text, text, anyelement) is 'mapped: the files of the section cover the comune; not_mapped: the loaded files do not; not_loaded: no file is loaded';

create or replace function api.raster_reaches(p_section text, p_region int4, p_point geometry, p_from anyelement) returns bool
language plpgsql stable as $$
begin
  return (
    select bool_or(st_covers(t.geom, p_point))
    from raster_tile t
    where t.region_code = p_region
      and t.section = p_section
  );
end
$$;
comment on function api.raster_reaches(text, int4, geometry, anyelement) is 'Whether a point (EPSG:4326) of a region is in a raster of a section; null: none is loaded';

create or replace function api.section_coverage(
  p_region int4, p_belfiore text, p_point geometry, p_kind text, p_section text, p_linked bool, p_found bool, p_from anyelement
) returns text
language plpgsql stable as $$
declare
  v_reached text;
begin
  if not api.is_applicable(p_section, p_kind) then
    return 'not_applicable';
  end if;
  -- Tiles and segments extend beyond the borders of the area that they cover. A value here proves nothing about the rest of the comune.
  v_reached := api.section_reached(p_section, p_region, p_belfiore, p_point, p_from);
  return case
    -- For rasters, coverage is decided per parcel: a parcel without a row may have empty cells, or the file may have been removed before the parcel appeared.
    when v_reached = 'as_found' then case when p_linked then 'mapped' when not p_linked then 'not_mapped' else 'not_loaded' end
    -- The source maps all land. Without a value, the source does not cover the parcel, even in a covered comune.
    when v_reached = 'if_found' and not coalesce(p_linked, p_found, false) then
      case api.comune_coverage(p_region, p_section, p_belfiore, p_from) when 'not_loaded' then 'not_loaded' else 'not_mapped' end
    when v_reached = 'if_found' then 'mapped'
    when v_reached = 'partly_if_linked' then case when p_linked then 'partial' else 'not_mapped' end
    when v_reached <> 'not_loaded' then v_reached
    when coalesce(p_linked, p_found) then 'mapped'
    when not p_linked then 'not_mapped'
    else api.comune_coverage(p_region, p_section, p_belfiore, p_from)
  end;
end
$$;
comment on function api.section_coverage(int4, text, geometry, text, text, bool, bool, anyelement) is 'Coverage of a section at a parcel of a region, comune, point (EPSG:4326) and kind (null: any). not_applicable: the section does not exist for this kind of parcel. mapped: null or [] means none here. partial: the value is from an export that may be cut, and more may be here. not_mapped: the loaded files do not cover the parcel. not_loaded: no file is loaded. p_linked: whether the files of the section reach the parcel, as the section reports it; null if the section does not report it. p_found: whether the section has a value';
