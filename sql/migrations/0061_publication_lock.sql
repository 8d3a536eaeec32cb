-- purpose: the lock between those who read what is published and those who publish
-- reads: none
-- writes: ledger.publication_lock
-- grain: no rows
-- crs: none

create table ledger.publication_lock ();
comment on table ledger.publication_lock is
  'Always empty: who reads a publication shares a lock on it, who swaps one has it alone. A table, because a role that may not see it cannot lock it; an advisory lock is open to every role';
