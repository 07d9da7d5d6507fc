"""A small model of addresses: HCL quoting, steps, containment, order."""

import unicodedata
from dataclasses import dataclass

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


def escaped(text: str) -> str:
    """Return a text in the form in which jsonb holds it: U+FDD0 and four digits per odd unit."""
    return "".join(
        f"\ufdd0{ord(c):04x}" if c in "\0\ufdd0" or "\ud800" <= c <= "\udfff" else c for c in text
    )


def module_address(steps: list[Step]) -> str:
    """Return the text of a module instance address."""
    return ".".join(f"module.{name}{quoted(key)}" for name, key in steps)


@dataclass(frozen=True)
class Address:
    """A resource object's address in steps."""

    modules: tuple[Step, ...]
    mode: str
    type: str
    name: str
    key: Key = None
    deposed: str = ""

    @property
    def text(self) -> str:
        """Return the address as Terraform prints it."""
        parts = [module_address(list(self.modules)), "data" if self.mode == "data" else ""]
        parts += [self.type, self.name + quoted(self.key)]
        return ".".join(part for part in parts if part)

    @property
    def config_text(self) -> str:
        """Return the address without any instance key."""
        bare = tuple((name, None) for name, _ in self.modules)
        return Address(bare, self.mode, self.type, self.name).text

    @property
    def order(self) -> tuple[object, ...]:
        """Return what document order compares: resources of a module, then its child modules."""
        steps = [(6, name, _key_order(key)) for name, key in self.modules]
        resource = (5, self.mode == "managed", self.type, self.name, _key_order(self.key))
        return (*steps, resource, self.deposed)

    @property
    def resource(self) -> tuple[object, ...]:
        """Return what all objects of one resource share."""
        return (self.modules, self.mode, self.type, self.name)


def _key_order(key: Key) -> tuple[int, int | str]:
    match key:
        case None:
            return (2, 0)
        case int():
            return (3, key)
        case str():
            return (4, escaped(key))
