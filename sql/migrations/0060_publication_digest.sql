-- purpose: a publication is told from every other one by what it holds
-- reads: ledger.publication, ledger.publication_table, ledger.attribution
-- writes: none
-- grain: one row per publication
-- crs: none

alter table ledger.publication add column digest text;
comment on column ledger.publication.digest is 'Digest of the content of its tables and of the words of its attributions; null: it is being published';

update ledger.publication as p
set digest = (
  select md5(coalesce(string_agg(l.line, chr(10) order by l.line collate "C"), ''))
  from (
    select concat_ws(' ', t.relation, t.digest) as line
    from ledger.publication_table t
    where t.publication_id = p.publication_id
    union all
    select concat_ws(' ', a.section, a.source_id, a.source, a.holder, a.license, a.url, a.reference_period, a.attribution)
    from ledger.attribution a
    where a.publication_id = p.publication_id
  ) l
);
