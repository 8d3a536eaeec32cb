-- purpose: the section poi of one parcel
-- reads: section.poi, core.point_of_interest
-- writes: api.section_poi
-- grain: one array per parcel, one element per point, at most 50
-- crs: EPSG:4326

create or replace function api.section_poi(p_fid int4, p_from anyelement, out value json, out linked bool, out keys text[])
language plpgsql stable as $$
declare
  v_kinds text;
begin
  select
    coalesce(
      json_agg(
        json_build_object(
          'id', p.id,
          'name', p.name,
          'category', p.category,
          'categories', p.categories,
          'address', p.address,
          'locality', p.locality,
          'coordinates', api.centroid(p.geom),
          'placed_by', p.placed_by
        )
        order by s.ordinal
      ),
      '[]'::json
    ),
    string_agg(distinct k.kind, ' ' order by k.kind)
  into value, v_kinds
  from poi s
  join point_of_interest p
    on p.region_code = core.region_of(p_fid)
    and p.id = s.id
  cross join lateral (select (p.category || case when p.placed_by = 'address' then '+' else '' end) collate "C" as kind) k
  where s.fid = p_fid;
  if v_kinds is not null then
    keys := array['poi/' || v_kinds, 'poi/' || v_kinds || ' ' || p_fid];
  end if;
end
$$;
comment on function api.section_poi(int4, anyelement) is 'Section poi as JSON: schools, open pharmacies and fuel stations of the parcel, ordered by category, name and id. The array is empty if there are none';
