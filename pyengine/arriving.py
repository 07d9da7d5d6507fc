"""Split a document while it arrives, where it is indented as Terraform writes it."""

import codecs
import mmap
import secrets
from typing import Final

from pyengine import statefile
from pyengine.statefile import Document

_OPENING: Final = b'\n  "resources": [\n    {'
_BETWEEN: Final = b"\n    },\n    {"
_END: Final = b"\n    }"
_CLOSING: Final = b"\n    }\n  ]"
_PART: Final = 1 << 20
_LONGEST: Final = 8 << 20


class ArrivingDocument:
    """A document of known size, the first resources of which are split before the last ones come.

    It is cut by the look of it, and nothing rests on that: each part must be a list of resources,
    and what is left without the parts a document in whose list of resources they stood. Anything
    else is split as a whole at the end. A part becomes a list where it is: brackets take the place
    of the commas beside it.
    """

    def __init__(self, size: int, part: int = _PART, longest: int = _LONGEST) -> None:
        """Reserve memory for `size` bytes. `part`: how many are worth a look for what is whole.

        One that is longer than `longest` would keep the caller waiting: it is left for the end.
        """
        self._body = _reserve(size)
        self._view = memoryview(self._body)
        self._part = part
        self._longest = longest
        self._document = Document(head=b"")
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._is_ascii = True
        self._is_odd = False
        self._is_over = False
        self._size = 0
        self._searched = 0
        self._cuts: list[int] = []

    def feed(self, chunk: bytes) -> None:
        """Append the next bytes; split the resources that are whole by now."""
        self._view[self._size : self._size + len(chunk)] = chunk
        self._size += len(chunk)
        self._is_odd = self._is_odd or not self._is_utf8(chunk)
        if self._size - self._searched >= self._part and not (self._is_odd or self._is_over):
            self._split_more()

    def finish(self) -> Document:
        """Return the document, all of whose bytes are there, or raise as `statefile.split` does."""
        if len(self._cuts) > 1 and not self._is_odd and self._complete():
            return self._document
        self._document = Document(head=b"")
        return statefile.split(self._view[: self._size])

    def _is_utf8(self, chunk: bytes) -> bool:
        self._is_ascii = self._is_ascii and chunk.isascii()
        if self._is_ascii:
            return True
        try:
            self._decoder.decode(chunk)
        except UnicodeDecodeError:
            return False
        return True

    def _split_more(self) -> None:
        start, end = self._searched, self._size
        self._searched = end
        if not self._cuts:
            opening = self._body.find(_OPENING, max(0, start - len(_OPENING)), end)
            if opening < 0:
                return
            start = opening + _OPENING.index(b"[")
            self._cuts.append(start)
        start = max(self._cuts[-1], start - len(_BETWEEN))
        if not self._split_between(start, end):
            # What follows the resources may be indented as they are.
            self._is_over = True
            closing = self._body.find(_CLOSING, self._cuts[-1], end)
            self._is_odd = closing < 0 or not self._split_between(start, closing)
        elif end - self._cuts[-1] > self._longest:
            self._is_odd = True

    def _split_between(self, start: int, end: int) -> bool:
        """Split up to the last mark there, if one is; False: not resources."""
        between = self._body.rfind(_BETWEEN, start, end)
        if between < 0:
            return True
        cut = between + len(_END)
        text = self._view[self._cuts[-1] : cut + 1]
        before, after = text[0], text[-1]
        text[0], text[-1] = b"[]"
        is_list = self._document.try_blocks(text)
        text[0], text[-1] = before, after
        if is_list:
            self._cuts.append(cut)
        return is_list

    def _complete(self) -> bool:
        # The mark shows that what was cut off is the list which counts, and not one in a string,
        # in another object, or under a name that comes again.
        opening = b'["%b",' % secrets.token_hex(16).encode()
        first, last = self._cuts[0], self._cuts[-1]
        text = b"".join((self._view[:first], opening, self._view[last + 1 : self._size]))
        return statefile.complete(self._document, text, opening)


def _reserve(size: int) -> mmap.mmap:
    body = mmap.mmap(-1, max(size, 1), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        body.madvise(mmap.MADV_HUGEPAGE)  # the kernel takes longer over small pages than the copy
    return body
