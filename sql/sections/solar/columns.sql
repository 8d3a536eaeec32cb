-- purpose: the section solar of many parcels as columns
-- reads: core.parcel, section.buildings, section.solar
-- writes: api.columns_solar
-- grain: one row per parcel
-- crs: EPSG:4326

create or replace function api.columns_solar(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  with asked as materialized (
    select
      p.fid,
      core.region_of(p.fid) as region_code,
      p.belfiore,
      p.kind,
      p.point
    from parcel p
    where p.fid = any (p_fids)
  ),
  roofed as materialized (
    select
      s.fid,
      s.n_buildings,
      s.viability_class,
      s.unread,
      v.*
    from solar s
    cross join lateral api.values_solar(row(s.*)::section.solar) v
    where s.fid = any (p_fids)
  ),
  built as materialized (
    select b.fid
    from buildings b
    where b.fid = any (p_fids)
  ),
  -- A parcel without buildings has no roofs only if a source of buildings covers the comune.
  place as materialized (
    select
      c.region_code,
      c.belfiore,
      c.is_built,
      api.section_coverage(c.region_code, c.belfiore, null, null, 'buildings', null, c.is_built, p_from) as coverage
    from (
      select distinct
        p.region_code,
        p.belfiore,
        b.fid is not null as is_built
      from asked p
      left join built b on b.fid = p.fid
    ) c
  ),
  known as materialized (
    select
      p.fid,
      p.kind,
      case when s.fid is null then c.coverage else 'mapped' end as coverage,
      case
        when s.unread then null
        when s.pvout_kwh_per_kwp is not null then true
        when s.fid is not null or c.coverage = 'mapped' then api.raster_reaches('solar', p.region_code, p.point, p_from)
        when c.coverage = 'not_mapped' then false
      end as linked,
      s.fid is not null as is_roofed,
      s.n_buildings,
      s.roof_area_m2,
      s.kwp_max_total,
      s.pvout_kwh_per_kwp,
      s.pvout_kwh_year_total,
      s.viability_class
    from asked p
    left join roofed s on s.fid = p.fid
    left join built b on b.fid = p.fid
    join place c
      on c.region_code = p.region_code
      and c.belfiore = p.belfiore
      and c.is_built = (b.fid is not null)
  )
  select
    t.fid,
    t.linked,
    t.is_roofed or (t.coverage = 'mapped' and t.kind = 'land'),
    case
      when t.is_roofed then json_build_array(
        true,
        t.n_buildings,
        t.roof_area_m2,
        t.kwp_max_total,
        t.pvout_kwh_per_kwp,
        t.pvout_kwh_year_total,
        t.viability_class
      )
      when t.coverage = 'mapped' and t.kind = 'land' then json_build_array(false, null, null, null, null, null, null)
    end
  from known t;
end
$$;
comment on function api.columns_solar(int4[], anyelement) is 'Section solar as columns, with the values and the coverage (linked) of api.section_solar';
