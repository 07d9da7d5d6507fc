-- requires: json/_projected
create or replace function kl_internal.same_json(p_one json, p_other json, p_escaped boolean)
returns boolean
language sql
immutable
parallel safe
as $$
    select case
        when p_one is null or p_other is null then (p_one is null) = (p_other is null)
        when p_one::text = p_other::text then true
        else kl_internal.projected(p_one, p_escaped) = kl_internal.projected(p_other, p_escaped)
    end;
$$;

comment on function kl_internal.same_json(json, json, boolean) is
'Whether two stored JSON texts are equal as JSON values; two nulls are. Inlined.';
