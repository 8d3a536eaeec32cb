-- purpose: values and JSON block of the section shaking for one parcel
-- reads: section.shaking
-- writes: api.values_shaking, api.section_shaking
-- grain: one object per parcel, null if the model has no value around the parcel
-- crs: none

create or replace function api.values_shaking(p_row section.shaking)
returns table (ag_min numeric, ag_max numeric)
language sql immutable parallel safe as $$
  select
    trim_scale(round((p_row).ag_min_g::numeric, 4)),
    trim_scale(round((p_row).ag_max_g::numeric, 4))
$$;
comment on function api.values_shaking(section.shaking) is 'Rounded values of the section shaking: accelerations in g with 4 decimals';

create or replace function api.section_shaking(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
begin
  select
    json_build_object(
      'ag_min', v.ag_min,
      'ag_max', v.ag_max,
      'corners', s.corners,
      'source', null
    ),
    array['shaking/' || s.vintage]
  into value, keys
  from shaking s
  cross join lateral api.values_shaking(row(s.*)::section.shaking) v
  where s.fid = p_fid;
end
$$;
comment on function api.section_shaking(int4, anyelement) is 'Section shaking as JSON: least and greatest acceleration of the corners around the parcel, in g; null if there is none';
