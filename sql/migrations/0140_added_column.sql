-- purpose: columns that publishers added and that the reader of a file did not know
-- reads: ledger.member
-- writes: ledger.added_column
-- grain: one row per member of a file and column
-- crs: none

create table ledger.added_column (
  member_id int4 not null references ledger.member on delete cascade,
  ordinal int4 not null,
  name text not null,
  samples text[] not null,
  primary key (member_id, ordinal)
);
comment on table ledger.added_column is 'Columns and properties of a file that its reader did not know, next to all that it knew. Rows go with their member: a file that is read again by a reader that knows the column has none';
comment on column ledger.added_column.member_id is 'File member (ledger.member)';
comment on column ledger.added_column.ordinal is 'Order in which they were found, from 1';
comment on column ledger.added_column.name is 'Name as published, without tax codes';
comment on column ledger.added_column.samples is 'At most three values of the first records, without tax codes, 40 characters at most; they never leave the machine';
