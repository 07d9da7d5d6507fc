-- How much has changed behind Terraform's back, by state?
-- As the last refresh found it and no apply has settled since.
select
    d.state_name,
    count(*) filter (where d.drift_kind = 'changed') as changed,
    count(*) filter (where d.drift_kind = 'deleted') as deleted,
    count(*) filter (where d.drift_kind = 'upgraded') as upgraded,
    max(d.detected_at) as last_detected_at
from kl.current_resource_drift as d
group by d.state_name
order by count(*) desc, d.state_name;
