-- Which states has nobody applied or refreshed for thirty days?
-- age: null where neither has ever happened.
select
    f.state_name,
    f.last_write_at,
    f.last_apply_at,
    f.last_refresh_at,
    f.age
from kl.freshness as f
where f.age is null
    or f.age > interval '30 days'
order by f.age desc nulls first, f.state_name;
