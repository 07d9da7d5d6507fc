-- Which resources can have tags and have none?
-- Those whose schema has tags: the attribute is there, and it is null or empty.
select
    r.type,
    r.state_name,
    r.address
from kl.resources as r
where r.mode = 'managed'
    and r.deposed_key is null
    and r.attributes ? 'tags'
    and coalesce(r.attributes -> 'tags_all', r.attributes -> 'tags') in ('null', '{}')
order by r.type, r.state_name, r.address;
