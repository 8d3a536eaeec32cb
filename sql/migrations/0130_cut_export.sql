-- purpose: files that may lack features because a web service answers page by page
-- reads: ledger.file
-- writes: none
-- grain: one row per file
-- crs: none

alter table ledger.file add column may_be_cut bool not null default false;
comment on column ledger.file.may_be_cut is 'True: an export of a web service that may lack features; it supersedes nothing, and a place without a feature of it is not mapped';
