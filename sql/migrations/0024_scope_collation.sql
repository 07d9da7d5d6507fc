-- Paths are compared by their bytes, whatever the database's language.
alter type kl_internal.scope_object alter attribute path type text collate "C";
