-- purpose: whether a section without anything means that there is nothing
-- reads: core.section_coverage, section.valuation, section.valuation_history, section.demographics, ledger.publication, ledger.attribution
-- writes: api.comune_coverage, api.section_coverage
-- grain: one call per section of a parcel
-- crs: none

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

create or replace function api.section_coverage(p_fid int4, p_belfiore text, p_section text, p_value json) returns text
language plpgsql stable as $$
declare
  v_linked bool;
  v_reached text;
begin
  -- Tiles and segments reach across the borders of what they cover: what is found says nothing of the rest.
  v_reached := case p_section
    when 'subsidence' then api.coverage_subsidence(p_fid)
    when 'coastal_erosion' then api.coverage_coastal_erosion(p_fid)
  end;
  if v_reached <> 'not_loaded' then
    return v_reached;
  end if;
  if p_section = 'valuation_history' then
    -- In a zone that no half-year has by its LinkZona: the history is empty because nothing is known.
    select bool_or(h.half_year is not null or h.then_zona is not null)
    into v_linked
    from section.valuation_history h
    where h.fid = p_fid;
  elsif p_value::text not in ('null', '[]') then
    v_linked := true;
  elsif p_section = 'valuation' then
    select v.half_year is not null
    into v_linked
    from section.valuation v
    where v.fid = p_fid;
  elsif p_section = 'demographics' then
    -- In a section of which no figures are published.
    select false
    into v_linked
    from section.demographics d
    where d.fid = p_fid;
  end if;
  return case
    when v_linked then 'mapped'
    when not v_linked then 'not_mapped'
    else api.comune_coverage(p_fid / 100000000, p_section, p_belfiore)
  end;
end
$$;
comment on function api.section_coverage(int4, text, text, json) is 'Coverage of a section at a parcel, given its value: mapped: null or [] means none here; not_mapped: the files loaded say nothing here; not_loaded: there are none';
