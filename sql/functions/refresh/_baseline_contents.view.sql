-- requires: states/_objects.view
create or replace view kl_internal.baseline_contents as
select
    r.*,
    v.terraform_version,
    v.source = 'move' as moved
from kl_internal.objects as r
inner join kl_internal.state_versions as v
    on v.state_id = r.state_id
    and v.version_no = r.opened_no
    and v.source <> 'refresh';

comment on view kl_internal.baseline_contents is
'What drift may be measured against: contents that no refresh wrote, with who wrote them.

The baseline at a path is the last of them that no move brought; where there is none, the last.';
