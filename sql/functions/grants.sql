-- Every right anybody but kl_owner has, stated from nothing on each deploy.
revoke all on all tables in schema kl from kl_server, kl_analyst, kl_secrets;
revoke all on all functions in schema kl from public, kl_server, kl_analyst, kl_secrets;
revoke all on all tables in schema kl_internal from kl_server, kl_analyst, kl_secrets;
revoke all on all functions in schema kl_internal from public, kl_server, kl_analyst, kl_secrets;

grant usage on schema kl to kl_server, kl_analyst, kl_secrets;
grant usage on schema kl_internal to kl_server;

grant select on all tables in schema kl to kl_server, kl_analyst;
grant execute on all functions in schema kl to kl_server;

do $$
declare
    v_object text;
begin
    -- Readers: invoker functions in SQL without a SET clause.
    for v_object in
        select p.oid::regprocedure::text
        from pg_proc as p
        join pg_namespace as n on n.oid = p.pronamespace
        join pg_language as l on l.oid = p.prolang
        where n.nspname = 'kl'
          and l.lanname = 'sql'
          and not p.prosecdef
          and p.proconfig is null
    loop
        execute format('grant execute on function %s to kl_analyst', v_object);
    end loop;

    -- A view checks functions against the reader, not against its owner. Without USAGE on the
    -- schema these helpers still cannot be called by name.
    for v_object in
        select distinct p.oid::regprocedure::text
        from pg_depend as d
        join pg_rewrite as r on r.oid = d.objid
        join pg_class as c on c.oid = r.ev_class
        join pg_namespace as vn on vn.oid = c.relnamespace
        join pg_proc as p on p.oid = d.refobjid
        join pg_namespace as pn on pn.oid = p.pronamespace
        where d.classid = 'pg_rewrite'::regclass
          and d.refclassid = 'pg_proc'::regclass
          and vn.nspname in ('kl', 'kl_internal')
          and pn.nspname = 'kl_internal'
    loop
        execute format('grant execute on function %s to kl_server, kl_analyst', v_object);
    end loop;

    -- The server may fill the stage; only functions read it.
    for v_object in
        select c.oid::regclass::text
        from pg_class as c
        join pg_namespace as n on n.oid = c.relnamespace
        where n.nspname = 'kl_internal'
          and c.relkind in ('r', 'p')
          and starts_with(c.relname, 'staged_')
    loop
        execute format('grant insert on table %s to kl_server', v_object);
    end loop;
end;
$$;

-- The one way out of masking.
grant execute on function kl.reveal(text, text, text) to kl_secrets;

-- A door that masks what analysts may not see.
grant execute on function kl.raw_state(kl.state_versions) to kl_analyst;

-- Doors for readers: they check the caller, and show nothing that is masked.
grant execute on function
    kl.address_path(text),
    kl.blast_radius(text, text),
    kl.dependencies_of(text, text, integer),
    kl.dependency_graph(text, text, boolean),
    kl.known_path(text, text),
    kl.state_id(text),
    kl.version_no(text, text)
to kl_analyst;
