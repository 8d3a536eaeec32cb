-- purpose: the section risk of many parcels as columns
-- reads: section.risk
-- writes: api.columns_risk
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_risk(p_fids int4[], p_from anyelement)
returns table (fid int4, linked bool, found bool, cells json)
language plpgsql stable as $$
#variable_conflict use_column
begin
  return query
  select
    s.fid,
    null::bool,
    true,
    json_build_array(
      s.seismic_zone,
      s.seismic_zone_label,
      s.seismic_zone_exact,
      v.pga,
      s.flood_level,
      v.flood_share,
      s.landslide_level,
      v.landslide_share,
      s.landslide_attention,
      v.pga_coverage,
      v.flood_coverage,
      v.landslide_coverage
    )
  from risk s
  cross join lateral api.values_risk(row(s.*)::section.risk) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_risk(int4[], anyelement) is 'Section risk as columns, for the parcels that have a row, with the values of api.section_risk';
