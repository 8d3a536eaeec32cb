-- purpose: values and JSON block of the section shaking for one parcel, and its columns for many parcels
-- reads: section.shaking
-- writes: api.values_shaking, api.section_shaking, api.columns_shaking
-- grain: one object per parcel, null if the model has no value around the parcel; for columns one row per parcel
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
    )
  into value
  from shaking s
  cross join lateral api.values_shaking(row(s.*)::section.shaking) v
  where s.fid = p_fid;
end
$$;
comment on function api.section_shaking(int4, anyelement) is 'Section shaking as JSON: least and greatest acceleration of the corners around the parcel, in g; null if there is none';

create or replace function api.columns_shaking(p_fids int4[], p_from anyelement)
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
      v.ag_min,
      v.ag_max,
      s.corners
    )
  from shaking s
  cross join lateral api.values_shaking(row(s.*)::section.shaking) v
  where s.fid = any (p_fids);
end
$$;
comment on function api.columns_shaking(int4[], anyelement) is 'Section shaking as columns, of the parcels that have a row, with the values of api.section_shaking';
