-- purpose: the section risk of many parcels, a row of columns each
-- reads: section.risk
-- writes: api.columns_risk
-- grain: one row per parcel
-- crs: none

create or replace function api.columns_risk(p_fids int4[])
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
      trim_scale(round(s.pga_g::numeric, 4)),
      s.flood_level,
      trim_scale(round(s.flood_share::numeric, 6)),
      s.landslide_level,
      trim_scale(round(s.landslide_share::numeric, 6)),
      s.landslide_attention,
      case when s.pga_mapped then 'mapped' else 'not_mapped' end,
      case when s.flood_mapped then 'mapped' when s.flood_partial then 'partial' else 'not_mapped' end,
      case when s.landslide_mapped then 'mapped' when s.landslide_level is not null then 'partial' else 'not_mapped' end
    )
  from section.risk s
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_risk(int4[]) is 'Section risk as columns, of the parcels that have it; values as api.section_risk shows them';
