-- purpose: the section nightlights of one parcel, and whether its source covers the place
-- reads: core.parcel, section.nightlights
-- writes: api.section_nightlights, api.coverage_nightlights
-- grain: one object, or null where no raster covers the place; one word
-- crs: EPSG:4326

create or replace function api.section_nightlights(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.nightlights;
  v_parcel core.parcel;
begin
  select *
  into v_found
  from section.nightlights n
  where n.fid = p_fid;
  if v_found.ntl_parcel is not null then
    keys := array[
      'nightlights/' || v_found.ntl_year || case when v_found.ntl_mean_comune is not null then ' ' || '@' else '' end
    ];
    value := json_build_object(
      'available', true,
      'ntl_parcel', trim_scale(round(v_found.ntl_parcel::numeric, 2)),
      'ntl_mean_comune', trim_scale(round(v_found.ntl_mean_comune::numeric, 2)),
      'ntl_ratio', trim_scale(round(v_found.ntl_ratio::numeric, 2)),
      'ntl_class', v_found.ntl_class,
      'ntl_year', v_found.ntl_year,
      'source', null
    );
    linked := true;
  elsif v_found.unread is null then
    select *
    into v_parcel
    from core.parcel p
    where p.fid = p_fid;
    linked := api.raster_reaches('nightlights', core.region_of(p_fid), v_parcel.point);
    -- Within a raster that says nothing there.
    if linked and v_parcel.kind = 'land' then
      keys := array['nightlights/none'];
      value := json_build_object('available', false, 'source', null);
    end if;
  end if;
end
$$;
comment on function api.section_nightlights(int4) is 'Section nightlights as JSON: radiance and ratio with 2 decimals; null where no raster covers the place';

create or replace function api.coverage_nightlights(p_region int4, p_belfiore text, p_point geometry) returns text
language sql immutable parallel safe as $$
  select 'as_found'
$$;
comment on function api.coverage_nightlights(int4, text, geometry) is 'as_found: mapped where a raster lies; not_mapped where none of those loaded does; not_loaded where none is, or its file had left before the parcel came';
