-- The roles of the installation, one plain statement each. They belong to the cluster, not to
-- the database, so the installer runs only those whose outcome is not there yet, as the session's
-- own user, and prints them for an administrator when it may not.
create role kl_owner nologin;
create role kl_server nologin;
create role kl_analyst nologin;
create role kl_secrets nologin;
create role kl_query login connection limit 20;
grant kl_analyst to kl_query;
-- Defaults, which a session may change: the role's lack of rights is the guard.
alter role kl_query set default_transaction_read_only = on;
alter role kl_query set statement_timeout = '10s';
alter role kl_query set idle_in_transaction_session_timeout = '1min';
