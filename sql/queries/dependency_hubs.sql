-- What do most other resources depend on?
-- dependents: instances that name it, directly or not, in their stored dependencies.
select
    d.state_name,
    d.depends_on,
    count(distinct d.address) as dependents
from kl.resource_dependencies as d
group by d.state_name, d.depends_on
order by dependents desc, d.state_name, d.depends_on
limit 20;
