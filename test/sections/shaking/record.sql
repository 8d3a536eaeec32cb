-- purpose: the section shaking of one parcel
-- reads: section.shaking
-- writes: api.section_shaking
-- grain: one object, or null if the model has no value around the parcel
-- crs: none

create or replace function api.section_shaking(p_fid int4, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_found section.shaking;
begin
  select *
  into v_found
  from section.shaking s
  where s.fid = p_fid;
  if v_found.fid is not null then
    keys := array['shaking/' || v_found.vintage];
    value := json_build_object(
      'ag_min', trim_scale(round(v_found.ag_min_g::numeric, 4)),
      'ag_max', trim_scale(round(v_found.ag_max_g::numeric, 4)),
      'corners', v_found.corners,
      'source', null
    );
  end if;
end
$$;
comment on function api.section_shaking(int4) is 'Section shaking as JSON: least and greatest acceleration of the corners around the parcel, g with 4 decimals; null where there is none';
