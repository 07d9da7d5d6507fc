create or replace function kl_internal.listed_dependencies(p_body jsonb)
returns jsonb
language sql
immutable
parallel safe
as $$
    select case
        when p_body -> 'dependencies' not in ('null', '[]') then p_body -> 'dependencies'
    end;
$$;

comment on function kl_internal.listed_dependencies(jsonb) is
'The dependencies member of an instance object; null where it names none. Inlined.';
