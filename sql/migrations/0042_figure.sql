-- purpose: figures of what is published, who accepted what the quality gate refused, and why
-- reads: ledger.publication, ledger.step
-- writes: ledger.figure
-- grain: one row per table, slice and place; one row per publication
-- crs: none

create table ledger.figure (
  relation text not null,
  partition text not null,
  slice text not null,
  province text not null,
  comune text not null,
  rows int8 not null,
  fields jsonb not null,
  identities jsonb not null,
  primary key (relation, partition, slice, province, comune)
);
comment on table ledger.figure is 'What the quality gate measured of a published table (ledger.publication_table), by place: the next publication is compared with it';
comment on column ledger.figure.relation is 'Parent table, schema.name';
comment on column ledger.figure.partition is 'Name of the partition, as in ledger.publication_table';
comment on column ledger.figure.slice is 'What the rows have in common that are compared with each other, such as their half-year; empty: nothing';
comment on column ledger.figure.province is 'ISTAT code of the province; empty: of no listed comune; *: of the table as a whole';
comment on column ledger.figure.comune is 'Cadastral code of the comune; empty: the province as a whole';
comment on column ledger.figure.rows is 'Rows';
comment on column ledger.figure.fields is 'By field: values (not null, or true), median and p95 (null: none, or not measured), values outside their bounds';
comment on column ledger.figure.identities is 'By identity: rows of which it is known, and those that break it';

alter table ledger.publication add column accepted jsonb;
comment on column ledger.publication.reason is 'Why it was published although the quality gate refused; null: it did not refuse';
comment on column ledger.publication.accepted is 'Who said so (user@host), when (at), and the figures refused; null: nothing was, or it was before figures were kept';

comment on column ledger.step.step is 'recover, stage, load, join, check, gate (guard, in older runs) or publish';
