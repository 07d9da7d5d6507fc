create or replace function kl_internal.scope_range(p_path text)
returns kl_gist.scope_range
language sql
immutable
parallel safe
as $$
    select case
        when p_path = '' then kl_gist.scope_range('', null)
        else kl_gist.scope_range(p_path, p_path || E'\x08')
    end;
$$;

comment on function kl_internal.scope_range(text) is
'Everything at and below a path; below the empty one is all of a state. Inlined.';
