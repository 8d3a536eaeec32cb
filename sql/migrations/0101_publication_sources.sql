-- purpose: what each section of a publication was made from is kept as records show it
-- reads: ledger.publication, ledger.attribution
-- writes: none
-- grain: one row per publication
-- crs: none

alter table ledger.publication add column sources jsonb;
comment on column ledger.publication.sources is 'Section → titles of its sources with their periods, as records show them; null: it is being published';

update ledger.publication as p
set sources = (
  select coalesce(jsonb_object_agg(s.section, s.shown), '{}')
  from (
    select
      a.section,
      string_agg(a.source || case when a.reference_period = '' then '' else ' (' || a.reference_period || ')' end, '; ' order by a.source_id collate "C") as shown
    from ledger.attribution a
    where a.publication_id = p.publication_id
    group by a.section
  ) s
);
