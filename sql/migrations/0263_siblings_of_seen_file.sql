-- purpose: detects sidecars that were added, changed or removed
-- reads: ledger.seen_file
-- writes: none
-- grain: none
-- crs: none

alter table ledger.seen_file
  add column siblings text;

comment on column ledger.seen_file.siblings is 'Digest of the names, sizes and times of the file and of the files next to it with the same name before the first dot; null if there are no such files.';
