-- Which state reads the outputs of which other one?
-- is_known: whether the state that is read is here.
select
    r.reads_state,
    r.reads_state_id is not null as is_known,
    r.state_name as reader,
    r.address
from kl.remote_state_reads as r
order by r.reads_state, r.state_name, r.address;
