-- Who shares a list of dependencies, and who reads another state: without reading the whole state.
create index resources_dependency_set_id_idx
    on kl_internal.resources (state_id, dependency_set_id)
    where closed_no is null and dependency_set_id is not null;

create index resources_remote_state_idx
    on kl_internal.resources (state_id)
    where closed_no is null and mode = 'data' and type = 'terraform_remote_state';
