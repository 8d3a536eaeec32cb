-- purpose: the section risk of one parcel
-- reads: section.risk
-- writes: api.section_risk
-- grain: one object
-- crs: none

create or replace function api.section_risk(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.risk;
  v_place text;
begin
  -- Read first: where parcels lie on other nodes, what else is asked lies here.
  select *
  into v_found
  from section.risk r
  where r.fid = p_fid;
  if v_found.fid is not null then
    v_place := 'risk/@' || case when v_found.pga_mapped then ' pga' else '' end;
    keys := array[v_place, v_place || ' ' || coalesce(v_found.flood_level, '-') || ' ' || coalesce(v_found.landslide_level, '-')];
    value := json_build_object(
      'seismic_zone', v_found.seismic_zone,
      'seismic_zone_label', v_found.seismic_zone_label,
      'seismic_zone_exact', v_found.seismic_zone_exact,
      'pga', trim_scale(round(v_found.pga_g::numeric, 4)),
      'flood_level', v_found.flood_level,
      'flood_share', trim_scale(round(v_found.flood_share::numeric, 6)),
      'landslide_level', v_found.landslide_level,
      'landslide_share', trim_scale(round(v_found.landslide_share::numeric, 6)),
      'landslide_attention', v_found.landslide_attention,
      'coverage', json_build_object(
        'pga', case when v_found.pga_mapped then 'mapped' else 'not_mapped' end,
        'flood', case when v_found.flood_mapped then 'mapped' when v_found.flood_partial then 'partial' else 'not_mapped' end,
        'landslide', case when v_found.landslide_mapped then 'mapped' when v_found.landslide_level is not null then 'partial' else 'not_mapped' end
      ),
      'source', null
    );
  end if;
end
$$;
comment on function api.section_risk(int4) is 'Section risk as JSON: seismic zone of the comune, pga in g with 4 decimals, worst flood and landslide class of the whole parcel with the share of it (6 decimals), and where the sources say nothing';
