-- requires: readers/remote_state_reads.view, readers/state_id
create or replace function kl.output_consumers(p_state text)
returns table (
    state_id    uuid,
    state_name  text,
    address     text,
    read_since  timestamptz
)
language sql
stable
as $$
    select
        r.state_id,
        r.state_name,
        r.address,
        r.read_since
    from kl.remote_state_reads as r
    where r.reads_state_id = (select kl.state_id(p_state))
        and (select kl.state_id(p_state)) is not null;  -- asked even where there is no row
$$;

comment on function kl.output_consumers(text) is
'The states that read the outputs of a state by terraform_remote_state, and the data sources.

read_since: when what they read last changed. kl.remote_state_reads has the same for all states.
Raises: KL001, KL101, KL102, KL201. Callers: analysts, server, CLI.';
