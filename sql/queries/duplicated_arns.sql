-- Which real thing is managed in more than one place?
-- places: state and address of each object that has the ARN.
select
    r.attributes ->> 'arn' as arn,
    count(*) as objects,
    array_agg(r.state_name || ': ' || r.address order by r.state_name, r.address) as places
from kl.resources as r
where r.mode = 'managed'
    and r.deposed_key is null
    and r.attributes ->> 'arn' <> '(sensitive value)'
group by r.attributes ->> 'arn'
having count(*) > 1
order by objects desc, arn;
