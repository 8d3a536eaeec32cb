-- purpose: a file whose size and date are those of another is not taken for it
-- reads: ledger.seen_file
-- writes: none
-- grain: one row per file that was looked at
-- crs: none

alter table ledger.seen_file add column changed_us int8;
comment on column ledger.seen_file.changed_us is 'When the system last wrote anything of the file, microseconds since 1970; null: seen before this was noted';
