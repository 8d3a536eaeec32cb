-- purpose: a record finds the text of its sources with its keys, without a second table
-- reads: ledger.citation
-- writes: ledger.cited
-- grain: one row per publication, section and kind of parcel that differs
-- crs: none

alter table ledger.cited add column source text;
comment on column ledger.cited.source is 'Titles of the sources with their periods as JSON text, as blocks show them (ledger.citation.source); the text null: there is no source';

update ledger.cited as d
set source = coalesce(to_json(c.source)::text, 'null')
from ledger.citation as c
where c.citation = d.citation;

alter table ledger.cited alter column source set not null;
