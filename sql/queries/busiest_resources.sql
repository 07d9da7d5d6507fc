-- Which resources change most often?
-- contents: how many different ones the object has had; the first one counts.
select
    h.state_name,
    h.address,
    count(*) as contents,
    max(h.created_at) as last_change_at
from kl.resource_history as h
where h.deposed_key is null
group by h.state_name, h.address
having count(*) > 1
order by contents desc, h.state_name, h.address
limit 50;
