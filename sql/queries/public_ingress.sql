-- Which security groups let the whole Internet in, and on which ports?
-- from_port and to_port: null or 0 to 0 with protocol -1 for all.
with rules as (
    select
        r.state_name,
        r.address,
        i.rule ->> 'protocol' as protocol,
        i.rule ->> 'from_port' as from_port,
        i.rule ->> 'to_port' as to_port,
        (i.rule -> 'cidr_blocks') || (i.rule -> 'ipv6_cidr_blocks') as cidrs
    from kl.resources as r
    cross join lateral jsonb_array_elements(
        case jsonb_typeof(r.attributes -> 'ingress')
            when 'array' then r.attributes -> 'ingress'
            else '[]'
        end
    ) as i (rule)
    where r.type = 'aws_security_group'
    union all
    select
        r.state_name,
        r.address,
        r.attributes ->> 'protocol',
        r.attributes ->> 'from_port',
        r.attributes ->> 'to_port',
        (r.attributes -> 'cidr_blocks') || (r.attributes -> 'ipv6_cidr_blocks')
    from kl.resources as r
    where r.type = 'aws_security_group_rule'
        and r.attributes ->> 'type' = 'ingress'
    union all
    select
        r.state_name,
        r.address,
        r.attributes ->> 'ip_protocol',
        r.attributes ->> 'from_port',
        r.attributes ->> 'to_port',
        jsonb_build_array(r.attributes -> 'cidr_ipv4', r.attributes -> 'cidr_ipv6')
    from kl.resources as r
    where r.type = 'aws_vpc_security_group_ingress_rule'
)
select
    u.state_name,
    u.address,
    u.protocol,
    u.from_port,
    u.to_port
from rules as u
where u.cidrs ?| array['0.0.0.0/0', '::/0']
order by u.state_name, u.address, u.from_port;
