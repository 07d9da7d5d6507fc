create or replace view kl.error_codes as
select
    e.sqlstate,
    e.code,
    e.http_status
from (
    values
        ('KL001', 'invalid_request', 400),
        ('KL002', 'unsupported_capability', 400),
        ('KL003', 'native_commit_not_supported', 400),
        ('KL004', 'payload_too_large', 413),
        ('KL101', 'unauthenticated', 401),
        ('KL102', 'forbidden', 403),
        ('KL201', 'state_not_found', 404),
        ('KL202', 'version_not_found', 404),
        ('KL203', 'address_not_found', 404),
        ('KL204', 'apply_run_not_found', 404),
        ('KL301', 'reservation_conflict', 409),
        ('KL302', 'state_serial_conflict', 409),
        ('KL303', 'terraform_locked', 423),
        ('KL304', 'lock_mismatch', 409),
        ('KL305', 'reservation_lost', 409),
        ('KL306', 'run_not_running', 409),
        ('KL401', 'unsafe_scope_closure', 422),
        ('KL402', 'slice_incomplete', 422)
) as e (sqlstate, code, http_status);

comment on view kl.error_codes is
'Every error that kl functions raise: SQLSTATE, the protocol''s code, the HTTP status.

The third character of the SQLSTATE is what a client does: 0 fix the request, 1 credentials, 2 the
thing is absent, 3 wait and retry, 4 widen the scope. DETAIL of an error is a JSON object.';
