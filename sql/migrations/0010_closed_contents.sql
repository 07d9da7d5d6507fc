-- What took the place of a content: found by one step, however many contents an object had.
drop index kl_internal.resources_closed_idx;

create index resources_closed_idx
    on kl_internal.resources (state_id, path, opened_no)
    where closed_no is not null;
