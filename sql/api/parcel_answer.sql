-- purpose: one parcel's record in the parts that the server needs
-- reads: none
-- writes: api.parcel_answer
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.parcel_answer(p_fid int4, p_include text[], out publication text, out head text, out citations text, out tail text)
language plpgsql volatile security definer
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_parts record;
begin
  -- Reads the publication second, because api.region_record keeps the current publications until the end of the transaction.
  v_parts := api.region_record(p_fid, p_include);
  publication := api.publication_tag(core.region_of(p_fid));
  head := v_parts.head;
  citations := v_parts.citations::text;
  tail := api.record_end(null);
end
$$;
comment on function api.parcel_answer(int4, text[]) is 'The record of api.parcel in parts. Results head and tail are the JSON text before and after the licences. Result citations is the array of the ids of the record''s citations as text (api.citation_licenses). Result publication is the result of api.publication_tag. The server caches the licences, because they are a third of a record and equal for many parcels. Result head is null if there is no such parcel';
