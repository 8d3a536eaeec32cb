-- purpose: the partition of a table whose rows were replaced in place
-- reads: ledger.publication_table
-- writes: none
-- grain: one row per publication and table
-- crs: none

alter table ledger.publication_table add column held_in text;
comment on column ledger.publication_table.held_in is 'Partition that holds the rows, if a publication replaced rows of an earlier table in place; null: the partition has the name in partition';
