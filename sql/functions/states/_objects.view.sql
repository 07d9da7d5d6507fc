-- requires: json/_escaped_jsonb
create or replace view kl_internal.objects as
select
    r.*,
    coalesce(
        case
            when r.escaped then kl_internal.escaped_jsonb(r.attributes::text)
            else r.attributes::jsonb
        end,
        '{}'
    ) as projection
from kl_internal.resources as r;

comment on view kl_internal.objects is
'The resource rows with their attributes as jsonb, for questions: public views start from it.';
