-- purpose: whether a section without anything means that there is nothing
-- reads: core.raster_tile, core.section_coverage, ledger.publication, ledger.publication_table, ledger.attribution
-- writes: api.comune_coverage, api.raster_reaches, api.section_coverage
-- grain: one call per section of a parcel
-- crs: EPSG:4326

create or replace function api.comune_coverage(p_region int4, p_section text, p_belfiore text) returns text
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
  from core.section_coverage c
  where c.region_code = p_region
    and c.section = p_section
    and c.belfiore in (p_belfiore, '*');
  if v_coverage is not null then
    return v_coverage;
  end if;
  -- No release of the section is loaded. Only a version that did not note where files reach leaves the answer to the attributions: these also name
  -- sources that help to place what another source lists.
  return (
    select case when count(*) > 0 then 'not_mapped' else 'not_loaded' end
    from ledger.publication u
    join ledger.attribution a using (publication_id)
    where u.unit_code = p_region
      and u.state = 'current'
      and a.section = p_section
      and not exists (select from ledger.publication_table t where t.publication_id = u.publication_id and t.relation = 'core.section_coverage')
  );
end
$$;
comment on function api.comune_coverage(int4, text, text) is 'mapped: the files of the section speak of the comune; not_mapped: those that are loaded do not; not_loaded: none is';

create or replace function api.raster_reaches(p_section text, p_region int4, p_point geometry) returns bool
language plpgsql stable as $$
begin
  return (
    select bool_or(st_covers(t.geom, p_point))
    from core.raster_tile t
    where t.region_code = p_region
      and t.section = p_section
  );
end
$$;
comment on function api.raster_reaches(text, int4, geometry) is 'Whether a point (EPSG:4326) of a region lies in a raster of a section; null: none is loaded';

create or replace function api.section_coverage(
  p_region int4, p_belfiore text, p_point geometry, p_kind text, p_section text, p_linked bool, p_found bool
) returns text
language plpgsql stable as $$
declare
  v_reached text;
begin
  if not api.is_applicable(p_section, p_kind) then
    return 'not_applicable';
  end if;
  -- Tiles and segments reach across the borders of what they cover: what is found says nothing of the rest.
  v_reached := api.section_reached(p_section, p_region, p_belfiore, p_point);
  return case
    -- Of rasters each parcel is asked: where it has no row its cells may be empty, or the file may have left before it came.
    when v_reached = 'as_found' then case when p_linked then 'mapped' when not p_linked then 'not_mapped' else 'not_loaded' end
    -- The source divides all land. Without a value it says nothing here, also in a comune that it covers.
    when v_reached = 'if_found' and not coalesce(p_linked, p_found, false) then
      case api.comune_coverage(p_region, p_section, p_belfiore) when 'not_loaded' then 'not_loaded' else 'not_mapped' end
    when v_reached = 'if_found' then 'mapped'
    when v_reached = 'partly_if_linked' then case when p_linked then 'partial' else 'not_mapped' end
    when v_reached <> 'not_loaded' then v_reached
    when coalesce(p_linked, p_found) then 'mapped'
    when not p_linked then 'not_mapped'
    else api.comune_coverage(p_region, p_section, p_belfiore)
  end;
end
$$;
comment on function api.section_coverage(int4, text, geometry, text, text, bool, bool) is 'Coverage of a section at a parcel of a region, comune, point (EPSG:4326) and kind (null: any). not_applicable: the section is not made for this kind of parcel; mapped: null or [] means none here; partial: the value is from an export that may be cut, and more may be here; not_mapped: the files loaded say nothing here; not_loaded: there are none. p_linked: whether the files of the section reach the parcel, as the section reports it; null: it does not report it. p_found: whether the section has a value';
