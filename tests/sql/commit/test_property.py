"""A change sent as a delta leaves what the same change posted as a whole document leaves."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.addresses import quoted
from tests.clusters import Database
from tests.equality import canonical
from tests.sql.commit.committing import commit, damage, writer
from tests.sql.staging import read, write
from tests.strategies import Document, Json, dump

pytestmark = pytest.mark.thorough

Objects = dict[str, list[Json]]


@given(first=strategies.documents(), data=st.data())
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_a_delta_is_the_same_change(
    shared_database: Database, first: Document, data: st.DataObject
) -> None:
    second = data.draw(strategies.successors(first))
    with shared_database.connect(autocommit=False) as conn:
        try:
            for name in ("delta", "whole"):
                write(conn, name, first.encoded(1))
            write(conn, "whole", second.encoded(2))
            run = writer(conn, "*", name="delta")
            assert commit(run, _delta(first, second, data), 1).serial == 2
            assert canonical(read(conn, "delta")) == canonical(read(conn, "whole"))
            assert damage(conn, "delta") == []
        finally:
            conn.rollback()


def _delta(first: Document, second: Document, data: st.DataObject) -> str:
    """Return what leads from one document to the other, and by chance some of what stays."""
    before, after = _objects(first), _objects(second)
    written = [a for a in after if after[a] != before.get(a) or data.draw(st.booleans())]
    old, new = first.top["outputs"], second.top["outputs"]
    return dump(
        {
            "lineage": first.top["lineage"],
            "write_set": written,
            "delete_set": [address for address in before if address not in after],
            "resources": [block for address in written for block in after[address]],
            "output_writes": {k: v for k, v in new.items() if dump(v) != dump(old.get(k))},
            "output_delete_set": [name for name in old if name not in new],
        },
        data.draw(st.sampled_from(["", "\n"])),
        ascii_only=data.draw(st.booleans()),
    )


def _objects(document: Document) -> Objects:
    """Return each instance address with the blocks that hold its objects, one a block."""
    found: Objects = {}
    for block in document.blocks:
        for instance in block["instances"]:
            key = instance.get("index_key")
            assume(not isinstance(key, int) or key >= 0)
            address = ".".join(
                part
                for part in (
                    block.get("module") or "",
                    "data" if block["mode"] == "data" else "",
                    block["type"],
                    block["name"] + quoted(key),
                )
                if part
            )
            found.setdefault(address, []).append({**block, "instances": [instance]})
    return {address: sorted(blocks, key=dump) for address, blocks in found.items()}
