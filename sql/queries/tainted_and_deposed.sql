-- What will be replaced or destroyed by the next apply because an earlier one failed?
-- problem: tainted, or deposed with the key of the object that waits to be destroyed.
select
    r.state_name,
    r.address,
    case
        when r.deposed_key is not null then 'deposed ' || r.deposed_key
        else 'tainted'
    end as problem,
    r.created_at as since
from kl.resources as r
where r.tainted
    or r.deposed_key is not null
order by r.state_name, r.address, problem;
