-- purpose: one parcel's record as the server answers it
-- reads: none
-- writes: api.parcel_answer
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.parcel_answer(p_fid int4, p_include text[], out publication text, out answer text)
language plpgsql volatile security definer
set search_path to public, pg_temp
as $$
begin
  perform api.hold_publication();
  publication := api.publication_tag(core.region_of(p_fid));
  -- Licences are a third of a record and the same for many: the server has them already.
  answer := api.region_record(p_fid, p_include, false);
end
$$;
comment on function api.parcel_answer(int4, text[]) is 'The record of api.parcel as JSON text, with the keys of what it cites in the place of licences (api.citations), and the publications it came from; answer null: there is no such parcel';
