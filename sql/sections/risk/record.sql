-- purpose: values and JSON block of the section risk for one parcel, and its columns for many parcels
-- reads: section.risk
-- writes: api.values_risk, api.section_risk, api.columns_risk
-- grain: one object per parcel; for columns one row per parcel
-- crs: none

create or replace function api.values_risk(p_row section.risk)
returns table (
  pga numeric,
  flood_share numeric,
  landslide_share numeric,
  pga_coverage text,
  flood_coverage text,
  landslide_coverage text
)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).pga_g::numeric, 4)),
    trim_scale(round((p_row).flood_share::numeric, 6)),
    trim_scale(round((p_row).landslide_share::numeric, 6)),
    case when (p_row).pga_mapped then 'mapped' else 'not_mapped' end,
    case when (p_row).flood_mapped then 'mapped' when (p_row).flood_partial then 'partial' else 'not_mapped' end,
    case when (p_row).landslide_mapped then 'mapped' when (p_row).landslide_level is not null then 'partial' else 'not_mapped' end
$$;
comment on function api.values_risk(section.risk) is 'Values of the section risk that are not stored as columns: pga in g rounded to 4 decimals, shares of the parcel rounded to 6 decimals, and the coverage of each field';

create or replace function api.section_risk(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    json_build_object(
      'seismic_zone', r.seismic_zone,
      'seismic_zone_label', r.seismic_zone_label,
      'seismic_zone_exact', r.seismic_zone_exact,
      'pga', v.pga,
      'flood_level', r.flood_level,
      'flood_share', v.flood_share,
      'landslide_level', r.landslide_level,
      'landslide_share', v.landslide_share,
      'landslide_attention', r.landslide_attention,
      'coverage', json_build_object(
        'pga', v.pga_coverage,
        'flood', v.flood_coverage,
        'landslide', v.landslide_coverage
      ),
      'source', null
    ),
    array[k.place, k.place || ' ' || coalesce(r.flood_level, '-') || ' ' || coalesce(r.landslide_level, '-')]
  into value, keys
  from risk r
  cross join lateral api.values_risk(row(r.*)::section.risk) v
  cross join lateral (select 'risk/@' || case when r.pga_mapped then ' pga' else '' end as place) k
  where r.fid = p_fid;
end
$$;
comment on function api.section_risk(int4, anyelement) is 'Section risk as JSON: seismic zone of the comune, pga in g, highest flood and landslide classes on the parcel with the share of each, and the coverage of each field';

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
