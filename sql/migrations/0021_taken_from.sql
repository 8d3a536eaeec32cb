-- purpose: which reading the rows of a member that was taken over come from
-- reads: ledger.member
-- writes: none
-- grain: one row per member
-- crs: none

alter table ledger.member add column taken_from int4;
comment on column ledger.member.taken_from is 'Member of an earlier release whose reading made its rows; null: it was read itself. No foreign key: that release may be pruned';
