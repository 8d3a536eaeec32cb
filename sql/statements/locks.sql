-- purpose: named advisory locks of a connection, and a check that the connection is open
-- reads: none
-- writes: none
-- grain: one row
-- crs: none

-- statement: try_lock
select pg_try_advisory_lock(hashtextextended($1, 0)) as taken

-- statement: try_share
select pg_try_advisory_lock_shared(hashtextextended($1, 0)) as taken

-- statement: lock
select pg_advisory_lock(hashtextextended($1, 0))

-- statement: share
select pg_advisory_lock_shared(hashtextextended($1, 0))

-- statement: unlock
select pg_advisory_unlock(hashtextextended($1, 0))

-- statement: unlock_all
select pg_advisory_unlock_all()

-- statement: is_alive
select 1
