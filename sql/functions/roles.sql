-- The roles of the installation, one plain statement each. They belong to the cluster, not to
-- the database, so the installer runs only those whose outcome is not there yet, as the session's
-- own user, and prints them for an administrator when it may not.
create role kl_owner nologin;
create role kl_server nologin;
create role kl_analyst nologin;
create role kl_secrets nologin;
create role kl_query login;
grant kl_analyst to kl_query;
