-- Which data sources does no resource in their state depend on?
-- They may still feed outputs or providers: dependencies do not tell.
select
    d.state_name,
    d.address,
    d.type
from kl.resources as d
where d.mode = 'data'
    and not exists (
        select
        from kl.resource_dependencies as n
        where n.state_id = d.state_id
            and n.depends_on = d.config_address
    )
order by d.state_name, d.address;
