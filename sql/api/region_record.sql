-- purpose: one parcel's record, from the tables of its region
-- reads: core.parcel
-- writes: api.region_record
-- grain: one call per parcel
-- crs: none

create or replace function api.region_record(p_fid int4, p_include text[], out head text, out citations uuid[])
language plpgsql volatile
-- Because of this clause, PostgreSQL restores the caller's search path when the function ends. The body sets a different search path.
set search_path to core, section, ledger, public, pg_temp
as $$
declare
  v_region constant int4 := core.region_of(p_fid);
  v_path text := 'region_' || v_region || ', core, section, ledger, public, pg_temp';
  v_parts record;
begin
  -- Looks up the schema while holding the lock, so no swap can happen before the record is read.
  perform api.hold_publication();
  if to_regnamespace('region_' || v_region) is null then
    select r.* into head, citations from api.parcel_record(p_fid, p_include, null::core.parcel) r;
    return;
  end if;
  -- The branches repeat the same code, because an expression shared by all regions would be planned again whenever the region changes. The search path is set
  -- in an assignment, because an assignment takes less time than a statement.
  case v_region
    when 1 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_1.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 2 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_2.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 3 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_3.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 4 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_4.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 5 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_5.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 6 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_6.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 7 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_7.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 8 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_8.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 9 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_9.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 10 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_10.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 11 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_11.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 12 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_12.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 13 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_13.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 14 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_14.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 15 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_15.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 16 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_16.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 17 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_17.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 18 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_18.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 19 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_19.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
    when 20 then
      v_path := set_config('search_path', v_path, true);
      v_parts := api.parcel_record(p_fid, p_include, null::region_20.parcel);
      head := v_parts.head;
      citations := v_parts.citations;
  end case;
end
$$;
comment on function api.region_record(int4, text[]) is 'The result of api.parcel_record, read from the views of the parcel''s region (schema region_N). If the region has no views, the tables of all regions are read';
