-- purpose: the section risk of one parcel
-- reads: section.risk
-- writes: api.section_risk
-- grain: one object
-- crs: none

create or replace function api.section_risk(p_fid int4, out value json, out linked bool)
language plpgsql stable as $$
begin
  value := (
    select json_build_object(
      'seismic_zone', r.seismic_zone,
      'seismic_zone_label', r.seismic_zone_label,
      'seismic_zone_exact', r.seismic_zone_exact,
      'pga', trim_scale(round(r.pga_g::numeric, 4)),
      'flood_level', r.flood_level,
      'flood_share', trim_scale(round(r.flood_share::numeric, 6)),
      'landslide_level', r.landslide_level,
      'landslide_share', trim_scale(round(r.landslide_share::numeric, 6)),
      'landslide_attention', r.landslide_attention,
      'coverage', json_build_object(
        'pga', case when r.pga_mapped then 'mapped' else 'not_mapped' end,
        'flood', case when r.flood_mapped then 'mapped' when r.flood_partial then 'partial' else 'not_mapped' end,
        'landslide', case when r.landslide_mapped then 'mapped' else 'not_mapped' end
      ),
      'source', api.section_source(p_fid, 'risk')
    )
    from section.risk r
    where r.fid = p_fid
  );
end
$$;
comment on function api.section_risk(int4) is 'Section risk as JSON: seismic zone of the comune, pga in g with 4 decimals, worst flood and landslide class of the whole parcel with the share of it (6 decimals), and where the sources say nothing';
