-- purpose: house numbers for a map tile
-- reads: core.access_point, core.street
-- writes: api.tile_house_numbers
-- grain: one call per tile
-- crs: EPSG:4326, longitude latitude; points are TWKB with 7 decimals, one after another

create or replace function api.tile_house_numbers(p_box float8[], p_most int4, out publication text, out facts text, out drawings bytea)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(null);
  select
    json_agg(json_build_array(n.street_id, s.name, api.street_number(n.number, n.exponent, n.colour, n.metric_m)) order by n.address_id)::text,
    string_agg(st_astwkb(n.geom, 7), ''::bytea order by n.address_id)
  into facts, drawings
  from (
    select
      a.region_code,
      a.address_id,
      a.street_id,
      a.number,
      a.exponent,
      a.colour,
      a.metric_m,
      a.geom
    from core.access_point a
    where a.geom && st_makeenvelope(p_box[1], p_box[2], p_box[3], p_box[4], 4326)
    order by a.address_id
    limit p_most
  ) n
  join core.street s
    on s.region_code = n.region_code
    and s.street_id = n.street_id;
end
$$;
comment on function api.tile_house_numbers(float8[], int4) is 'First p_most located accesses in a box, by address_id. The result has [street_id, name of the street, civico as text] of each access as JSON, and the points. The JSON and the points are null if the box has no access';
