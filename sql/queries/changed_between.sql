-- What changed in all states between two dates?
-- Set the dates in period. changes: attributes that differ, sensitive values masked.
with period as (
    select
        date_trunc('day', now()) - interval '1 day' as since,
        now() as until
),
states as (
    select
        s.state,
        s.state_name,
        -- The last version before, or 0: then all of the first one is new.
        (
            select max(v.version_no)
            from kl.state_versions as v
            where v.state_id = s.state_id
                and v.created_at <= p.since
        ) as from_no,
        (
            select min(v.version_no)
            from kl.state_versions as v
            where v.state_id = s.state_id
                and v.created_at > p.since
        ) as first_no,
        (
            select max(v.version_no)
            from kl.state_versions as v
            where v.state_id = s.state_id
                and v.created_at <= p.until
        ) as to_no
    from kl.states as s
    cross join period as p
)
select
    s.state_name,
    'v' || coalesce(s.from_no, s.first_no) as from_version,
    'v' || s.to_no as to_version,
    d.change,
    d.address,
    d.changes
from states as s
cross join lateral kl.diff_versions(
    s.state, 'v' || coalesce(s.from_no, s.first_no), 'v' || s.to_no
) as d
where s.to_no > coalesce(s.from_no, s.first_no)
order by s.state_name, d.path collate "C";
