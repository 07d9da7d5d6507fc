"""A small model of addresses: HCL quoting, steps, containment, order."""

import unicodedata

Key = int | str | None
Step = tuple[str, Key]

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def quoted(key: Key) -> str:
    """Return an instance key as Terraform prints it, brackets included; "" for none."""
    if key is None:
        return ""
    if isinstance(key, int):
        return f"[{key}]"
    return '["' + "".join(_printed(key, n) for n in range(len(key))) + '"]'


def _printed(key: str, position: int) -> str:
    character = key[position]
    if character in _SHORT:
        return _SHORT[character]
    if character in "$%" and key[position + 1 : position + 2] == "{":
        return character * 2
    if character == " " or unicodedata.category(character)[0] in "LMNPS":
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def module_address(steps: list[Step]) -> str:
    """Return the text of a module instance address."""
    return ".".join(f"module.{name}{quoted(key)}" for name, key in steps)
