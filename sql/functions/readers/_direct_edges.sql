create or replace function kl_internal.direct_edges(p_from text[], p_to text[])
returns table (config_address text, depends_on text)
language sql
immutable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off  -- nobody knows how long the arrays are
as $$
    with edges as materialized (
        select distinct e.one, e.other
        from unnest(p_from, p_to) as e (one, other)
        where e.one <> e.other
    ),
    one_way as materialized (
        select e.one, e.other
        from edges as e
        except
        select e.other, e.one
        from edges as e
    )
    select e.one, e.other
    from edges as e
    except
    select a.one, b.other
    from one_way as a
    inner join one_way as b on b.one = a.other;
$$;

comment on function kl_internal.direct_edges(text[], text[]) is
'Dependencies without those that follow from others; those in a ring stay.';
