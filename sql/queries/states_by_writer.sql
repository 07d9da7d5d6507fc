-- Who writes which states, and with which Terraform?
-- writes: of all versions there are; last_write_at: of these.
select
    v.actor,
    v.terraform_version,
    count(distinct v.state_id) as states,
    count(*) as writes,
    max(v.created_at) as last_write_at
from kl.state_versions as v
group by v.actor, v.terraform_version
order by writes desc, v.actor, v.terraform_version;
