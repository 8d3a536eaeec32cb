-- purpose: the complete record of a parcel, its licences, and the search for a parcel by reference
-- reads: core.parcel, core.parcel_register, ledger.attribution, ledger.publication, ledger.publication_lock
-- writes: api.licenses, api.record_end, api.whole_record, api.parcel, api.hold_publication, api.parcel_by_reference, api.retired_parcel
-- grain: one call per parcel
-- crs: EPSG:4326, longitude latitude

create or replace function api.licenses(p_region int4, p_sections text[]) returns json
language plpgsql stable as $$
begin
  return (
    -- Attributions for the names of comuni belong to the publication of Italy (region 0).
    with cited as (
      select distinct on (a.section, a.source_id)
        a.*
      from ledger.publication u
      join ledger.attribution a using (publication_id)
      where u.unit_code in (0, p_region)
        and u.state = 'current'
        and a.section = any (p_sections)
      order by a.section, a.source_id, u.unit_code
    ),
    -- Compares the licence as well as the holder. The cadastre and the quotations have the same holder but different licences, and each attribution must be
    -- shown.
    mandatory as (
      select distinct on (a.holder, a.license)
        a.*
      from ledger.publication u
      join ledger.attribution a using (publication_id)
      where u.unit_code = p_region
        and u.state = 'current'
        and a.section = '*'
        and not exists (select from cited c where c.holder = a.holder and c.license = a.license)
      order by a.holder, a.license, a.reference_period desc, a.source_id
    ),
    shown as (
      select * from cited
      union all
      select * from mandatory
    )
    select coalesce(
      json_agg(
        json_build_object(
          'section', s.section,
          'source', s.source,
          'holder', s.holder,
          'license', s.license,
          'url', s.url,
          'reference_period', nullif(s.reference_period, ''),
          'attribution', s.attribution
        )
        order by array_position(p_sections, s.section) nulls last, s.source_id collate "C"
      ),
      '[]'::json
    )
    from shown s
  );
end
$$;
comment on function api.licenses(int4, text[]) is 'Attributions of the sections for all parcels of a region in the current publication. A mandatory attribution (section *) is added unless a section has an attribution with the same holder and licence';

create or replace function api.record_end(p_as_of json) returns text
language sql stable parallel safe as $$
  select concat(',"attribution_required":true', ',"as_of":' || p_as_of::text, '}}')
$$;
comment on function api.record_end(json) is 'JSON text of the end of a record, after the licences. Argument p_as_of is the member meta.as_of of a record of a past day, null for the current state';

create or replace function api.whole_record(p_head text, p_include text[], p_citations uuid[], p_as_of json default null) returns text
language sql stable as $$
  select p_head || api.cited_licenses(p_include, p_citations) || api.record_end(p_as_of)
$$;
comment on function api.whole_record(text, text[], uuid[], json) is 'Joins the parts of a record and the licences of the citations into one JSON text. Null if there is no such parcel';

create or replace function api.parcel(p_fid int4, p_include text[]) returns json
language sql volatile as $$
  select api.whole_record(r.head, p_include, r.citations)::json
  from api.region_record(p_fid, p_include) r
$$;
comment on function api.parcel(int4, text[]) is 'Record of a parcel with the given sections in the given order, but basic first. Null if there is no such parcel. Argument p_include must contain names of sections';

create or replace function api.hold_publication() returns void
language plpgsql volatile as $$
begin
  -- A swap locks ledger.publication_lock in access exclusive mode before it changes published tables. One lock on this table replaces locks on thirty other
  -- tables.
  lock table ledger.publication_lock in access share mode;
end
$$;
comment on function api.hold_publication() is 'Keeps the current publications until the end of the transaction, so all reads of the transaction are consistent';

create or replace function api.parcel_by_reference(p_reference text) returns int4
language plpgsql stable as $$
begin
  return (
    select p.fid
    from core.parcel p
    where p.reference = p_reference
    order by p.fid
    limit 1
  );
end
$$;
comment on function api.parcel_by_reference(text) is 'Fid of the published parcel with a national cadastral reference, CCCCZFFFFAS.label. Null if no published parcel has the reference';

create or replace function api.retired_parcel(p_fid int4) returns json
language plpgsql stable security definer
set search_path to core, section, ledger, public, pg_temp
as $$
begin
  return (
    select json_build_object('successor_fid', r.successor_fid)
    from core.parcel_register r
    where r.region_code = core.region_of(p_fid)
      and r.fid = p_fid
      and r.retired_on is not null
    limit 1
  );
end
$$;
comment on function api.retired_parcel(int4) is 'JSON object with successor_fid for a parcel that is no longer published. The successor is the current parcel with the same geometry, null if there is none or if there are several. The result is null if the parcel is published or was never published';
