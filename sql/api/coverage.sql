-- purpose: whether a section without anything means that there is nothing
-- reads: core.section_coverage, ledger.publication, ledger.attribution
-- writes: api.comune_coverage, api.section_coverage
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
  -- Nothing of the section is loaded, or the region was published by a version that did not note where its files reach.
  return (
    select case when count(*) > 0 then 'not_mapped' else 'not_loaded' end
    from ledger.publication u
    join ledger.attribution a using (publication_id)
    where u.unit_code = p_region
      and u.state = 'current'
      and a.section = p_section
  );
end
$$;
comment on function api.comune_coverage(int4, text, text) is 'mapped: the files of the section speak of the comune; not_mapped: those that are loaded do not; not_loaded: none is';

create or replace function api.section_coverage(p_region int4, p_belfiore text, p_point geometry, p_section text, p_linked bool) returns text
language plpgsql stable as $$
declare
  -- Tiles and segments reach across the borders of what they cover: what is found says nothing of the rest.
  v_reached constant text := api.section_reached(p_section, p_region, p_belfiore, p_point);
begin
  return case
    when v_reached <> 'not_loaded' then v_reached
    when p_linked then 'mapped'
    when not p_linked then 'not_mapped'
    else api.comune_coverage(p_region, p_section, p_belfiore)
  end;
end
$$;
comment on function api.section_coverage(int4, text, geometry, text, bool) is 'Coverage of a section at a parcel of a region, comune and point (EPSG:4326): mapped: null or [] means none here; not_mapped: the files loaded say nothing here; not_loaded: there are none. p_linked: what the section found says itself whether its files reach the parcel; null: it found nothing';
