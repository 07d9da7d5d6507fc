"""A small model of scopes: tokens of an address, where containment is having the prefix."""

from collections.abc import Collection
from dataclasses import dataclass

from tests.addresses import Address, Key, Step, module_address, quoted

Tokens = tuple[tuple[object, ...], ...]


@dataclass(frozen=True)
class Glob:
    """What an address_glob says: all, a module, or a resource with or without its key."""

    modules: tuple[Step, ...] = ()
    resource: tuple[str, str, str] | None = None
    key: Key = None
    star: bool = False

    @property
    def text(self) -> str:
        """Return the address_glob."""
        module = module_address(list(self.modules))
        if self.resource is None:
            return f"{module}.*" if self.star else module or "*"
        mode, type_, name = self.resource
        parts = [module, "data" if mode == "data" else "", type_, name + quoted(self.key)]
        return ".".join(part for part in parts if part)

    @property
    def named(self) -> Tokens:
        """Return what is meant when every call without key has one instance."""
        tokens = _module_tokens(self.modules)
        if self.resource is not None:
            tokens += (("resource", *self.resource),)
            tokens += (("key", self.key),) if self.key is not None else ()
        elif self.modules and self.modules[-1][1] is None:
            tokens = tokens[:-1]
        return tokens

    def reserved(self, unkeyed: Collection[tuple[str, ...]] = ()) -> Tokens:
        """Return what is taken when only those calls are known to have one instance."""
        for depth, (name, key) in enumerate(self.modules):
            call = (*(name for name, _ in self.modules[:depth]), name)
            if key is None and call not in unkeyed:
                return (*_module_tokens(self.modules[:depth]), ("call", name))
        return self.named


def tokens_of(address: Address) -> Tokens:
    """Return the tokens of one object."""
    resource = ("resource", address.mode, address.type, address.name)
    return (*_module_tokens(address.modules), resource, ("key", address.key))


def covers(outer: Tokens, inner: Tokens) -> bool:
    """Tell whether what is at `inner` is at or below `outer`."""
    return inner[: len(outer)] == outer


def _module_tokens(modules: tuple[Step, ...]) -> Tokens:
    return tuple(token for name, key in modules for token in (("call", name), ("key", key)))
