-- Which objects make the states large?
-- bytes: of the attributes as compact JSON text, masked.
select
    r.state_name,
    r.address,
    r.deposed_key,
    r.type,
    octet_length(r.attributes::text) as bytes
from kl.resources as r
order by bytes desc, r.state_name, r.address
limit 50;
