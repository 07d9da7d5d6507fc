"""The codec of one resource type (or provider, or identity), compiled from its cached schema."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final

import msgspec

from pyengine.codec.decoding import Decoder, compile_decoder
from pyengine.codec.encoding import Encoder, compile_encoder
from pyengine.codec.errors import CodecError, MismatchError, Step
from pyengine.codec.jsontext import read_json, rewrite, write_json
from pyengine.codec.sensitive import (
    Path,
    Walker,
    compile_sensitive,
    fit_path,
    read_state_form,
    sort_key,
    state_form,
)
from pyengine.codec.strip import compile_strip
from pyengine.codec.types import schema_type
from pyengine.codec.wire import NIL, WireValue

_PACK: Final = msgspec.msgpack.Encoder().encode
_UNPACK: Final = msgspec.msgpack.Decoder().decode


class Codec:
    """Translate values of one schema; every refusal is a CodecError with the path.

    Texts are JSON as in a state's `attributes`. What comes out is canonical: compact, names
    sorted, sets in Terraform's order, numbers in plain decimal, nulls explicit, absent blocks
    empty.
    """

    def __init__(self, schema: bytes | str) -> None:
        self.version, self.type = schema_type(schema)

    def encode(self, attributes: bytes | str, *, strip: bool = False) -> bytes:
        """Return state JSON as MessagePack; absent members are null.

        Members that are not in the schema are refused, or dropped with `strip`.
        """
        with _translated():
            return _PACK(self._to_wire(read_json(attributes), strip=strip))

    def decode(self, value: WireValue | bytes) -> bytes:
        """Return a value from the wire (bytes: MessagePack) as canonical state JSON.

        An unset value is refused; null is `null`.
        """
        wire = WireValue(msgpack=value) if isinstance(value, bytes) else value
        if wire.is_unset:
            raise CodecError("there is no value")
        if not wire.msgpack:
            return self.canonical(wire.json)
        if wire.msgpack == NIL:
            return b"null"
        with _translated():
            try:
                found = _UNPACK(wire.msgpack)
            except (msgspec.DecodeError, ValueError) as exc:
                raise CodecError(f"not MessagePack: {exc}") from exc
            return write_json(self._decoder(found))

    def canonical(self, attributes: bytes | str, *, strip: bool = False) -> bytes:
        """Return state JSON in canonical form: what `decode` gives for what `encode` sends."""
        with _translated():
            wire = self._to_wire(read_json(attributes), strip=strip)
            return b"null" if wire is None else write_json(self._decoder(wire))

    def strip_unknown(self, attributes: bytes | str) -> bytes:
        """Return the text without members the schema lacks; the very same text if there are none.

        This is what UpgradeResourceState is sent when the schema versions are equal.
        """
        with _translated():
            value = read_json(attributes)
            stripped = self._strip(value)
            if stripped is value:
                return attributes.encode() if isinstance(attributes, str) else attributes
            return write_json(rewrite(stripped))

    def sensitive_paths(self, attributes: bytes | str) -> list[Any]:
        """Return what the schema calls sensitive in a value, as `sensitive_attributes` has it."""
        if self._sensitive is None:
            return []
        value = read_json(attributes)
        return [state_form(path) for path in sorted(self._walk(value), key=sort_key)]

    def merge_sensitive(
        self,
        attributes: bytes | str,
        stored: bytes | str | None,
        sent: Iterable[Iterable[tuple[str, Step]]] = (),
    ) -> bytes:
        """Return `sensitive_attributes` for a new value: stored paths, the schema's, and `sent`.

        `sent` are paths of (kind, step) from the provider. Paths end at the first set; what leads
        nowhere in the new value is dropped. A stored path of unknown shape is kept as it is.
        """
        known: list[Any] = (read_json(stored) if stored else None) or []
        if self._sensitive is None and not known and not sent:
            return b"[]"
        value = read_json(attributes)
        odd: list[Any] = []
        paths = set(self._walk(value))
        for form in known:
            path = read_state_form(form)
            if path is None:
                odd.append(form)
            else:
                paths |= self._fitted(value, path)
        for steps in sent:
            paths |= self._fitted(value, steps)
        return write_json([*map(state_form, sorted(paths, key=sort_key)), *odd])

    def _fitted(self, value: Any, steps: Iterable[tuple[str, Step]]) -> set[Path]:
        path = fit_path(self.type, value, steps)
        return {path} if path else set()

    def _walk(self, value: Any) -> Iterator[Path]:
        if self._sensitive is not None and value is not None:
            yield from self._sensitive(value, ())

    def _to_wire(self, value: Any, *, strip: bool) -> Any:
        if value is None:
            return None
        return (self._stripping_encoder if strip else self._strict_encoder)(value)

    @cached_property
    def _strict_encoder(self) -> Encoder:
        return compile_encoder(self.type, strip=False)

    @cached_property
    def _stripping_encoder(self) -> Encoder:
        return compile_encoder(self.type, strip=True)

    @cached_property
    def _decoder(self) -> Decoder:
        return compile_decoder(self.type)

    @cached_property
    def _strip(self) -> Callable[[Any], Any]:
        return compile_strip(self.type)

    @cached_property
    def _sensitive(self) -> Walker | None:
        return compile_sensitive(self.type)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except MismatchError as exc:
        raise CodecError(exc.problem, exc.path()) from exc
    except RecursionError as exc:
        raise CodecError("nested too deeply") from exc
