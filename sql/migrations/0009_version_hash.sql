-- The hash of the row's other columns (kl_internal.version_hash); null in versions from before.
alter table kl_internal.state_versions add column row_hash bigint;
