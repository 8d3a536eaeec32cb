-- purpose: Gini index of incomes, computed from the number of taxpayers and the total income in each bracket
-- reads: none
-- writes: core.gini
-- grain: one call per comune or postal code
-- crs: none

-- The index is computed from the Lorenz curve of the brackets, sorted by mean income. Bracket i has n_i taxpayers and the amount a_i. N and A are the totals.
-- If p = n / N, q = a / A and Q is the running sum of q, then G = 1 − Σ p_i (Q_(i−1) + Q_i). Incomes inside a bracket are treated as equal, so G is a lower
-- bound. Integers are summed and divided once, so every engine returns the same number.
create or replace function core.gini(counts int8[], amounts int8[], total_count int8, total_amount int8) returns numeric
language sql immutable parallel safe
as $$
  with bracket as (
    select
      b.n,
      b.a,
      b.ordinal
    from unnest(counts, amounts) with ordinality as b (n, a, ordinal)
  ),
  grouped as (
    -- If the total is known, the bracket of zero or less has income 0. If the total is unknown, this bracket is left out.
    select
      n::numeric as n,
      greatest(a, 0)::numeric as a
    from bracket
    where n > 0
      and (total_count is not null or ordinal > 1)
    union all
    -- All withheld brackets form one group, with the remainder of the total.
    select
      total_count::numeric - sum(coalesce(n, 0)),
      greatest(total_amount::numeric - sum(coalesce(a, 0)), 0)
    from bracket
    having total_count > sum(coalesce(n, 0))
  ),
  curve as (
    select
      n,
      a,
      sum(a) over (order by a / n, n, a rows unbounded preceding) as reached
    from grouped
  )
  select
    case
      when count(*) >= 2 and sum(a) > 0 then round(1 - sum(n * (2 * reached - a)) / (sum(n) * sum(a)), 4)
    end
  from curve
$$;
comment on function core.gini(int8[], int8[], int8, int8) is 'Gini index 0–1 (4 decimals) of taxpayers'' incomes by bracket. The arguments are the numbers of taxpayers and the amounts in euro of the eight brackets, lowest first (null: withheld), and the totals (null before 2023). The result is null if fewer than two brackets are known to have taxpayers (all withheld brackets count as one bracket), or if their total amount is zero';
