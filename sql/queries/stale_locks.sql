-- Which locks are older than an hour?
-- who and operation as the holder gave them; "kl unlock" frees one.
select
    l.state_name,
    l.kind,
    l.who,
    l.operation,
    l.lock_id,
    l.acquired_at,
    date_trunc('second', now() - l.acquired_at) as age
from kl.state_locks as l
where l.acquired_at < now() - interval '1 hour'
order by l.acquired_at;
