-- If the resource that most others depend on changes, what may break?
-- depth: the number of steps of the longest way to it.
with hub as (
    select
        d.state_id,
        d.depends_on
    from kl.resource_dependencies as d
    where d.depends_on_address is not null
    group by d.state_id, d.depends_on
    order by count(distinct d.address) desc, d.depends_on
    limit 1
)
select
    s.state_name,
    h.depends_on as hub,
    b.address,
    b.depth
from hub as h
inner join kl.states as s on s.state_id = h.state_id
cross join lateral kl.blast_radius(
    s.state,
    (
        select r.address
        from kl.resources as r
        where r.state_id = h.state_id
            and r.config_address = h.depends_on
        order by r.address
        limit 1
    )
) as b
order by b.depth, b.address;
