-- purpose: the section shaking of one parcel
-- reads: section.shaking
-- writes: api.section_shaking
-- grain: one object, or null where the model has no value around the place
-- crs: none

create or replace function api.section_shaking(p_fid int4, out value json, out linked bool)
language plpgsql stable as $$
begin
  value := (
    select json_build_object(
      'ag_min', trim_scale(round(s.ag_min_g::numeric, 4)),
      'ag_max', trim_scale(round(s.ag_max_g::numeric, 4)),
      'corners', s.corners,
      'source', api.section_source(p_fid, 'shaking')
    )
    from section.shaking s
    where s.fid = p_fid
  );
end
$$;
comment on function api.section_shaking(int4) is 'Section shaking as JSON: least and greatest acceleration of the corners around the parcel, g with 4 decimals; null where there is none';
