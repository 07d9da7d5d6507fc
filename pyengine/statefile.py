"""Split a posted state document into raw slices. Pure: no payload is decoded, no rule is kept here.

The database reads what stands in a slice; this module only finds where each one begins and ends.
"""

import hashlib
import re
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from pyengine.errors import KilolockError
from pyengine.statetext import Buffer, check_encoding, chunks_of, refusal

Raw = msgspec.Raw

_ABSENT: Final = Raw(b"")
_ENVELOPE_MARKS: Final = ("encrypted_data", "encryption_version")
# An escape pair, a surrogate pair, or (captured) a surrogate without its other half.
_ESCAPES: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|\\u([dD][89a-fA-F][0-9a-fA-F]{2})"
)


class _Block(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A resource as Terraform writes it; any other key takes the slower way."""

    module: Raw = _ABSENT
    mode: Raw = _ABSENT
    type: Raw = _ABSENT
    name: Raw = _ABSENT
    each: Raw = _ABSENT
    provider: Raw = _ABSENT
    instances: list[Raw] | None = None


class _Instance(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """An instance as Terraform writes it; any other key takes the slower way."""

    index_key: Raw = _ABSENT
    status: Raw = _ABSENT
    deposed: Raw = _ABSENT
    provider: Raw = _ABSENT
    schema_version: Raw = _ABSENT
    attributes: Raw = _ABSENT
    attributes_flat: Raw = _ABSENT
    sensitive_attributes: Raw = _ABSENT
    identity_schema_version: Raw = _ABSENT
    identity: Raw = _ABSENT
    private: Raw = _ABSENT
    dependencies: Raw = _ABSENT
    create_before_destroy: Raw = _ABSENT


class InstanceParts(NamedTuple):
    """An instance taken apart; None: absent. `rest` is the object without the other members.

    An index_key that is null stays in it. `attributes` and `identity` are without white space: as
    Terraform compares them.
    """

    rest: bytes
    index_key: bytes | None = None
    attributes: bytes | None = None
    identity: bytes | None = None


_ENCODER = msgspec.json.Encoder()
_TOP = msgspec.json.Decoder(dict[str, Raw])
_BLOCK = msgspec.json.Decoder(_Block)
_BLOCKS = msgspec.json.Decoder(list[_Block])
_PIECES = msgspec.json.Decoder(list[Raw])
_LOOSE_BLOCKS = msgspec.json.Decoder(list[dict[str, Raw]])
_INSTANCE = msgspec.json.Decoder(_Instance)
_INSTANCES = msgspec.json.Decoder(list[Raw] | None)


@dataclass(slots=True)
class Document:
    """A document in pieces; an encrypted one is `chunks` of its bytes and has no objects.

    An object is a place in `slices` (None: a resource without instances), `blocks` (which of
    `headers` is its resource's) and `digests` (SHA-256 over both; of a chunk when encrypted).
    """

    head: bytes
    outputs: list[tuple[bytes, bytes]] = field(default_factory=list)
    headers: list[bytes] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    slices: list[Raw | None] = field(default_factory=list)
    digests: list[bytes] = field(default_factory=list)
    chunks: list[memoryview] = field(default_factory=list)
    surrogate_mark: bytes | None = None

    def add_blocks(self, text: Buffer | Raw) -> None:
        """Append the objects of a list of resources; none if it is something else."""
        for header, instances in list(_headers(text)):
            place = len(self.headers)
            self.headers.append(header)
            # To go on from a copy costs less than to hash the header again.
            seed = hashlib.sha256(header + b"\0")
            if not instances:
                self.blocks.append(place)
                self.slices.append(None)
                self.digests.append(seed.digest())
            for piece in instances:
                state = seed.copy()
                state.update(piece)
                self.digests.append(state.digest())
            self.blocks.extend([place] * len(instances))
            self.slices.extend(instances)

    def try_blocks(self, text: Buffer) -> bool:
        """Append the objects of a list of resources if it is one."""
        try:
            self.add_blocks(text)
        except (msgspec.DecodeError, RecursionError):
            return False
        return True

    def payload(self, piece: Raw | bytes) -> bytes:
        """Return the bytes of a piece as they were posted."""
        data = bytes(piece)
        if self.surrogate_mark is not None:
            data = data.replace(self.surrogate_mark, b"\\u")
        return data

    def parts(self, position: int) -> InstanceParts | None:
        """Take the instance of an object apart; None: its resource has no instance."""
        piece = self.slices[position]
        if piece is None:
            return None
        try:
            known = _INSTANCE.decode(piece)
        except msgspec.ValidationError:
            return self._odd_parts(piece)
        attributes, identity, index_key = known.attributes, known.identity, known.index_key
        known.attributes = known.identity = _ABSENT
        has_key = index_key is not _ABSENT and bytes(index_key) != b"null"
        if has_key:
            known.index_key = _ABSENT
        return InstanceParts(
            self.payload(_ENCODER.encode(known)),
            self.payload(index_key) if has_key else None,
            None if attributes is _ABSENT else self._compact(attributes),
            None if identity is _ABSENT else self._compact(identity),
        )

    def _odd_parts(self, piece: Raw) -> InstanceParts:
        try:
            members = _TOP.decode(piece)
        except msgspec.ValidationError as exc:
            raise refusal(f"an instance of a resource is not an object ({exc})") from exc
        attributes, identity = (members.pop(name, None) for name in ("attributes", "identity"))
        index_key = members.get("index_key")
        if index_key is not None and bytes(index_key) != b"null":
            del members["index_key"]
        else:
            index_key = None
        return InstanceParts(
            self.payload(_object(members, None)),
            None if index_key is None else self.payload(index_key),
            None if attributes is None else self._compact(attributes),
            None if identity is None else self._compact(identity),
        )

    def _compact(self, piece: Raw) -> bytes:
        return self.payload(msgspec.json.format(memoryview(piece), indent=-1))


def split(body: Buffer) -> Document:
    """Split a document; raise `invalid_request` saying what is wrong and where."""
    check_encoding(body)
    try:
        return _split(body, body, None)
    except KilolockError:
        # msgspec refuses a surrogate that stands alone, which Terraform and JSON allow.
        mark = b"@" + secrets.token_hex(16).encode() + b"@"
        masked, found = mask_surrogates(body, mark)
        if not found:
            raise
        return _split(body, masked, mark)


def _split(body: Buffer, text: Buffer, mark: bytes | None) -> Document:
    document = Document(head=b"", surrogate_mark=mark)
    try:
        top = _TOP.decode(text)
        if any(name in top for name in _ENVELOPE_MARKS):
            document.chunks = list(chunks_of(memoryview(body)))
            document.digests = [hashlib.sha256(chunk).digest() for chunk in document.chunks]
        else:
            document.outputs = _members(top, "outputs")
            document.add_blocks(_list(top, "resources"))
    except msgspec.ValidationError as exc:
        raise refusal(f"the document does not have the shape of a state ({exc})") from exc
    except msgspec.DecodeError as exc:
        raise refusal(f"the document is not valid JSON ({exc})") from exc
    except RecursionError as exc:
        raise refusal("the document is nested too deeply") from exc
    document.head = _object(top, mark)
    return document


def complete(document: Document, text: bytes, opening: bytes) -> bool:
    """Add what is left of a document whose first resources are in `document` already.

    False: it is no state, or the list of its resources does not begin with `opening`.
    """
    try:
        top = _TOP.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return False
    blocks = memoryview(_list(top, "resources"))
    if blocks[: len(opening)] != opening or any(name in top for name in _ENVELOPE_MARKS):
        return False
    document.outputs = _members(top, "outputs")
    document.head = _object(top, None)
    return document.try_blocks(b"[" + blocks[len(opening) :])


def _headers(blocks: Buffer | Raw) -> Iterator[tuple[bytes, list[Raw]]]:
    try:
        yield from map(_header, _BLOCKS.decode(blocks))
    except msgspec.ValidationError:
        # Each by itself: a header must not depend on what stands beside it.
        loose = _LOOSE_BLOCKS.decode(blocks)
        yield from map(_loose_header, loose, _PIECES.decode(blocks))


def _header(block: _Block) -> tuple[bytes, list[Raw]]:
    instances, block.instances = block.instances, None
    return _ENCODER.encode(block), instances or []


def _loose_header(block: dict[str, Raw], piece: Raw) -> tuple[bytes, list[Raw]]:
    try:
        return _header(_BLOCK.decode(piece))
    except msgspec.ValidationError:
        instances = _INSTANCES.decode(block.pop("instances", Raw(b"null")))
        return _object(block, None), instances or []


def _members(top: dict[str, Raw], name: str) -> list[tuple[bytes, bytes]]:
    """Take the members of an object out of `top`, leaving {} where they stood."""
    raw = top.get(name)
    if raw is None or bytes(memoryview(raw)[:1]) != b"{":
        return []
    top[name] = Raw(b"{}")
    return [(msgspec.json.encode(key), bytes(value)) for key, value in _TOP.decode(raw).items()]


def _list(top: dict[str, Raw], name: str) -> Raw:
    """Take a list out of `top`, leaving [] where it stood; [] if there is none."""
    raw = top.get(name)
    if raw is None or bytes(memoryview(raw)[:1]) != b"[":
        return Raw(b"[]")
    top[name] = Raw(b"[]")
    return raw


def _object(members: dict[str, Raw], mark: bytes | None) -> bytes:
    text = b",".join(msgspec.json.encode(k) + b":" + bytes(v) for k, v in members.items())
    text = b"{" + text + b"}"
    return text if mark is None else text.replace(mark, b"\\u")


def mask_surrogates(body: Buffer, mark: bytes) -> tuple[bytes, bool]:
    found = False

    def mask(match: re.Match[bytes]) -> bytes:
        nonlocal found
        if match[1] is None:
            return match[0]
        found = True
        return mark + match[1]

    return _ESCAPES.sub(mask, body), found
