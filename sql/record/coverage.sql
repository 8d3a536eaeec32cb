-- purpose: coverage of a section, which states why a section is empty
-- reads: core.raster_tile, core.section_coverage, ledger.publication, ledger.publication_table, ledger.attribution
-- writes: api.comune_coverage, api.raster_reaches, api.section_coverage
-- grain: one call per section of a parcel
-- crs: EPSG:4326

create or replace function api.comune_coverage(p_region int4, p_section text, p_belfiore text, p_from anyelement) returns text
language plpgsql stable as $$
begin
  if exists (
    select
    from section_coverage c
    where c.region_code = p_region
      and c.section = p_section
      and c.belfiore = p_belfiore
  ) then
    return 'mapped';
  elsif exists (
    select
    from section_coverage c
    where c.region_code = p_region
      and c.section = p_section
      and c.belfiore = '*'
  ) then
    return 'not_mapped';
  end if;
  -- No release of the section is loaded, or an earlier version of mappale built the publication without core.section_coverage. In such a publication, an
  -- attribution shows that the section has a source. The result is then not_mapped instead of mapped, because some attributed sources only locate the points of
  -- a different source.
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
comment on function api.comune_coverage(int4, text, text, anyelement) is 'Coverage of a comune by a section. Value mapped: the loaded files cover the comune. Value not_mapped: the loaded files do not cover the comune. Value not_loaded: no file is loaded';

create or replace function api.raster_reaches(p_section text, p_region int4, p_point geometry, p_from anyelement) returns bool
language plpgsql stable
-- PostgreSQL estimates that a custom plan is cheaper, and would plan the statement again for every call.
set plan_cache_mode to force_generic_plan
as $$
begin
  return (
    select bool_or(st_covers(t.geom, p_point))
    from raster_tile t
    where t.region_code = p_region
      and t.section = p_section
  );
end
$$;
comment on function api.raster_reaches(text, int4, geometry, anyelement) is 'True if a loaded raster of a section contains a point (EPSG:4326) of a region. Null if no raster is loaded';

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
  -- A tile or shoreline segment can extend into a comune that the source does not cover. One parcel with a value does not prove that its comune is covered.
  v_reached := api.section_reached(p_section, p_region, p_belfiore, p_point, p_from);
  return case
    -- Raster coverage is decided for each parcel. A parcel has no row if its cells are empty, or if the raster was removed before the parcel was built.
    when v_reached = 'as_found' then case when p_linked then 'mapped' when not p_linked then 'not_mapped' else 'not_loaded' end
    -- The source has a value for all land that it covers. A parcel without a value is therefore not covered, even in a covered comune.
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
comment on function api.section_coverage(int4, text, geometry, text, text, bool, bool, anyelement) is 'Returns the coverage of a section at a parcel, given by region, comune, point (EPSG:4326) and kind (null: any kind). Value not_applicable: the section does not exist for this kind of parcel. Value mapped: the files cover the parcel, so a section that is null or [] means that nothing was found. Value partial: the section comes from an export that may be incomplete, so features may be missing. Value not_mapped: the loaded files do not cover the parcel. Value not_loaded: no file is loaded. Argument p_linked is true if the loaded files cover the parcel (null: the section does not report this). Argument p_found is true if the section has a value';
