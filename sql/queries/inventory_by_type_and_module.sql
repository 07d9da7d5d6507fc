-- What is there, and where is it declared?
-- module: without keys, '' for the root. instances: deposed objects do not count.
select
    r.type,
    coalesce(regexp_replace(r.module, '\["(?:[^"\\]|\\.)*"\]|\[\d+\]', '', 'g'), '') as module,
    count(distinct r.state_id) as states,
    count(*) as instances
from kl.resources as r
where r.mode = 'managed'
    and r.deposed_key is null
group by 1, 2
order by instances desc, r.type, module;
