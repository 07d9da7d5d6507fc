-- The list of drift gained a column: its result type changes.
drop function if exists kl.list_current_drift(text, integer);
