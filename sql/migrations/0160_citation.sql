-- purpose: what a section of one parcel cites, as entries that many parcels share
-- reads: ledger.attribution, ledger.publication
-- writes: ledger.citation, ledger.cited
-- grain: one row per combination of sources, and one per publication, section and kind of parcel that differs
-- crs: none

create table ledger.citation (
  citation uuid not null primary key,
  section text not null,
  source text,
  source_ids text[] not null,
  licenses text[] not null,
  terms text[] not null
);
comment on table ledger.citation is 'Combinations of sources that values come from. Rows never change and are shared by publications';
comment on column ledger.citation.citation is 'Digest of the section and its licences';
comment on column ledger.citation.section is 'Section, or * for those that every answer shows';
comment on column ledger.citation.source is 'Titles of the sources with their periods, as records show them; null: there is no source';
comment on column ledger.citation.source_ids is 'Sources, in alphabetical order';
comment on column ledger.citation.licenses is 'Of each source its licence as records show it, a JSON object as text';
comment on column ledger.citation.terms is 'Of each source its holder and licence, by which two licences are the same';

create table ledger.cited (
  publication_id int4 not null references ledger.publication on delete cascade,
  section text not null,
  key text not null,
  citation uuid not null references ledger.citation,
  primary key (publication_id, key, section)
);
comment on table ledger.cited is 'What the sections of a publication cite: one combination for most parcels, and those of the parcels that differ';
comment on column ledger.cited.publication_id is 'Publication';
comment on column ledger.cited.section is 'Section, or * for those that every answer shows';
comment on column ledger.cited.key is 'Section, a slash and facts of the parcel, as its record.sql says them; the section alone: all other parcels';
comment on column ledger.cited.citation is 'Combination of sources (ledger.citation)';

-- A publication of an earlier version cites the same for all parcels of its region until it is followed by another.
create temporary table cited_before on commit drop as
with license as (
  select
    a.publication_id,
    a.section,
    a.source_id,
    a.source || case when a.reference_period = '' then '' else ' (' || a.reference_period || ')' end as shown,
    json_build_object(
      'section', a.section,
      'source', a.source,
      'holder', a.holder,
      'license', a.license,
      'url', a.url,
      'reference_period', nullif(a.reference_period, ''),
      'attribution', a.attribution
    )::text as license,
    a.holder || ' ' || a.license as term
  from ledger.attribution a
)
select
  publication_id,
  section,
  string_agg(shown, '; ' order by source_id collate "C") as source,
  array_agg(source_id order by source_id collate "C") as source_ids,
  array_agg(license order by source_id collate "C") as licenses,
  array_agg(term order by source_id collate "C") as terms
from license
group by publication_id, section;

insert into ledger.citation
select distinct
  md5(section || array_to_string(licenses, ''))::uuid,
  section,
  source,
  source_ids,
  licenses,
  terms
from cited_before;

insert into ledger.cited
select
  publication_id,
  section,
  section,
  md5(section || array_to_string(licenses, ''))::uuid
from cited_before;

drop table cited_before;

-- Its content is now in ledger.citation.
drop function if exists past.publication() cascade;
alter table ledger.publication drop column sources;
