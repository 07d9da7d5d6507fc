-- Addresses are parsed many at a time.
drop function if exists kl_internal.parse_plain_address(text);
