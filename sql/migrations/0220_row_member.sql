-- purpose: members that refer to the rows of an earlier release
-- reads: ledger.member
-- writes: none
-- grain: one row per member
-- crs: none

alter table ledger.member add column row_member_id int4;
alter table ledger.member add column row_release_id int4;
comment on column ledger.member.row_member_id is 'Member of an earlier release that the rows in the layers name; null: the rows name this member. No foreign key, like taken_from';
comment on column ledger.member.row_release_id is 'Release of row_member_id, whose partitions of the layers hold the rows; null: this release';
