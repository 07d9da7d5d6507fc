"""Keep in a changed object the stored spelling of what did not change in it."""

import msgspec


def keep_spelling(stored: bytes, prior: bytes, new: bytes) -> bytes:
    """Return `new` with every member that is as in `prior` spelled as in `stored`.

    All are JSON texts, `prior` being `stored` in the canonical form that `new` has. Otherwise a
    set in another order, or a null in place of no blocks, would look changed, too.
    Lists are taken whole: their stored elements may stand in another order.
    """
    if prior == new:
        return stored
    if not all(text.startswith(b"{") for text in (stored, prior, new)):
        return new
    was, is_prior, is_new = (
        msgspec.json.decode(text, type=dict[str, msgspec.Raw]) for text in (stored, prior, new)
    )
    kept: dict[str, msgspec.Raw] = {}
    for name, value in is_new.items():
        if name in was and name in is_prior:
            kept[name] = msgspec.Raw(
                keep_spelling(bytes(was[name]), bytes(is_prior[name]), bytes(value))
            )
        elif is_prior.get(name) != value:
            kept[name] = value
    return msgspec.json.encode(kept)
