create or replace function kl_internal.note_growth(p_opened bigint)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
set default_statistics_target = 10  -- a first impression; autovacuum will look closer
as $$
begin
    if p_opened < 1000 or p_opened * 10 < (
        select c.reltuples
        from pg_class as c
        where c.oid = 'kl_internal.resources'::regclass
    ) then
        return;
    end if;

    -- Until autovacuum comes by, any index on a state would look as good as the one on its paths,
    -- and a state that is not in the statistics would seem to have one object.
    analyze (skip_locked) kl_internal.resources (
        state_id, path, config_address, dependency_set_id, opened_no, closed_no
    );
    analyze (skip_locked) kl_internal.dependency_sets (id, state_id);
end;
$$;

comment on function kl_internal.note_growth(bigint) is
'Take the statistics that plans need when a whole document has opened a tenth of all rows known of.

p_opened: how many. Who else analyzes at the moment is not waited for; until this transaction ends,
nobody else does.';
