create or replace view kl.installation as
select
    m.name,
    m.checksum,
    m.applied_at
from kl_internal.migrations as m
union all
select
    'functions',
    f.checksum,
    f.applied_at
from kl_internal.deployed_functions as f;

comment on view kl.installation is
'What is installed: each migration, and under the name functions the set of views and functions.

Callers: installer, server.';
