-- Which providers are in use, by how much, and written by which versions of Terraform?
-- A state does not hold provider versions: the schema versions tell how recent one must be.
select
    substring(r.provider from 'provider\["([^"]+)"\]') as provider,
    count(distinct r.state_id) as states,
    count(*) as objects,
    count(distinct r.provider) as configurations,
    max(r.schema_version) as highest_schema_version,
    array_agg(distinct s.terraform_version order by s.terraform_version) as terraform_versions
from kl.resources as r
inner join kl.states as s on s.state_id = r.state_id
group by 1
order by objects desc, provider;
