create or replace function kl_internal.note_growth(p_objects bigint)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set default_statistics_target = 10  -- a first impression; autovacuum will look closer
as $$
begin
    if p_objects < 1000 or exists (
        select
        from pg_class as c
        where c.oid = 'kl_internal.resources'::regclass
            and c.reltuples * 2 >= p_objects
            and exists (
                select
                from pg_stats as s
                where s.schemaname = 'kl_internal'
                    and s.tablename = 'resources'
                    and s.attname = 'state_id'
            )
    ) then
        return;
    end if;

    -- Until autovacuum comes by, any index on a state would look as good as the one on its paths.
    analyze (skip_locked) kl_internal.resources (
        state_id, path, config_address, dependency_set_id, opened_no, closed_no
    );
    analyze (skip_locked) kl_internal.dependency_sets (id, state_id);
end;
$$;

comment on function kl_internal.note_growth(bigint) is
'Take the statistics that plans need when a state, of that many objects, is more than is known of.

Who else analyzes at the moment is not waited for.';
