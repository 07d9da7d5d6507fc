"""kl.begin_refresh, kl.refresh_groups and kl.refresh_page: what a refresh has to read."""

import json

import pytest

from tests.clusters import Connection
from tests.documents import BUILTIN, ENCRYPTED, instance, lock_info, resource, state
from tests.sql.auth.acting import act, new_token
from tests.sql.locks.test_lock_state import lock
from tests.sql.refreshing import begin, refresh
from tests.sql.staging import refused, stage, write

AWS = 'provider["registry.terraform.io/hashicorp/aws"]'
WEST = f"module.net.{AWS}.west"


def test_run_is_audited_from_its_start(conn: Connection) -> None:
    write(conn, "s", state(1, resource()))
    write(conn, "s", state(5, resource("b")))
    conn.execute("select set_config('kl.actor', 'ann@cli', true)")
    row = conn.execute("select version_no, serial from kl.begin_refresh('s')").fetchone()
    assert row == (2, 5)
    assert conn.execute(
        "select status, from_version_no, to_version_no, finished_at, actor from kl.refresh_runs"
    ).fetchall() == [("running", 2, None, None, "ann@cli")]


def test_states_without_anything_to_read_are_told(conn: Connection) -> None:
    with refused(conn, "KL201") as refusal:
        begin(conn, "typo")
    assert refusal.detail == {"state": "typo"}
    lock(conn, "placeholder", lock_info("one"))
    with refused(conn, "KL201"):
        begin(conn, "placeholder")
    write(conn, "sealed", ENCRYPTED)
    with refused(conn, "KL002"):
        begin(conn, "sealed")


def test_who_may_only_read_cannot_begin(conn: Connection) -> None:
    write(conn, "s", state(1, resource()))
    act(conn, new_token(conn, "state:read"))
    with refused(conn, "KL102"):
        begin(conn)


def test_groups_are_full_provider_addresses_with_their_configuration(conn: Connection) -> None:
    write(
        conn,
        "s",
        state(
            1,
            resource("a", type="aws_vpc", provider=AWS),
            resource(
                "b", instance(index_key=0), instance(index_key=1), type="aws_eip", provider=AWS
            ),
            resource("c", type="aws_vpc", provider=WEST, module="module.net"),
            resource("d", type="aws_ami", mode="data", provider=AWS),
            resource("e"),
        ),
    )
    conn.execute("select kl.configure_provider('s', %s, %s)", (WEST, '{"region": "us-west-2"}'))
    assert begin(conn).groups() == [
        (WEST, ["aws_vpc"], 1, {"region": "us-west-2"}),
        (AWS, ["aws_eip", "aws_vpc"], 3, None),
        (BUILTIN, ["terraform_data"], 1, None),
    ]


def test_instance_provider_goes_before_the_resources(conn: Connection) -> None:
    one = instance(index_key="a", provider=f'{AWS}.by["a"]')
    write(conn, "s", state(1, resource("a", one, provider=AWS)))
    assert [group[0] for group in begin(conn).groups()] == [f'{AWS}.by["a"]']


def test_pages_have_every_object_once_in_document_order(conn: Connection) -> None:
    old = instance({"id": "old"}, deposed="0badcafe")
    counted = [instance({"id": f"c{n}"}, index_key=n) for n in (0, 2, 10)]
    write(
        conn,
        "s",
        state(
            1,
            resource("a", old, instance({"id": "new"})),
            resource("c", *counted),
            resource("d", mode="data"),
        ),
    )
    objects = list(begin(conn).objects())
    assert [(o.address, o.deposed) for o in objects] == [
        ("terraform_data.a", ""),
        ("terraform_data.a", "0badcafe"),
        ("terraform_data.c[0]", ""),
        ("terraform_data.c[2]", ""),
        ("terraform_data.c[10]", ""),
    ]


def test_objects_come_with_every_digit_and_unmasked(conn: Connection) -> None:
    text = '{"id":"a","n":12345678901234567890.10,"odd":"\\u0000","password":"hunter2"}'
    body = state(
        1,
        resource(
            "a",
            instance(
                {"id": "PLACE"},
                schema_version=3,
                private="eHg=",
                identity={"id": 1},
                identity_schema_version=1,
                sensitive_attributes=[[{"type": "get_attr", "value": "password"}]],
            ),
        ),
    )
    write(conn, "s", json.dumps(body).replace('{"id": "PLACE"}', text).encode())
    (found,) = begin(conn).objects()
    assert found.attributes == text
    assert (found.schema_version, found.private, found.identity_schema_version) == (3, "eHg=", 1)
    assert json.loads(found.identity or "") == {"id": 1}
    assert json.loads(found.sensitive_attributes or "") == [
        [{"type": "get_attr", "value": "password"}]
    ]


def test_flatmap_of_old_writers_comes_as_it_is(conn: Connection) -> None:
    flat = instance(attributes_flat={"id": "a", "tags.%": "1"})
    del flat["attributes"]
    write(conn, "s", state(1, resource("a", flat)))
    (found,) = begin(conn).objects()
    assert found.attributes is None
    assert json.loads(found.attributes_flat or "") == {"id": "a", "tags.%": "1"}


def test_pages_are_of_the_version_the_run_began_at(conn: Connection) -> None:
    write(conn, "s", state(1, resource("a"), resource("b")))
    run = begin(conn)
    write(conn, "s", state(2, resource("a", instance({"id": "later"})), resource("c")))
    assert [(o.address, json.loads(o.attributes or "")["id"]) for o in run.objects()] == [
        ("terraform_data.a", "a"),
        ("terraform_data.b", "b"),
    ]


@pytest.mark.parametrize(
    "call", ["refresh_groups(%s)", "refresh_page(%s, 'x', '', 9)", "preview_refresh(%s)"]
)
def test_only_a_running_run_is_read(conn: Connection, call: str) -> None:
    query = f"select * from kl.{call}".encode()
    write(conn, "s", state(1, resource()))
    run = begin(conn)
    conn.execute(query, (run.id,))
    run.finish("cancelled")
    with refused(conn, "KL306") as refusal:
        conn.execute(query, (run.id,))
    assert refusal.detail == {"status": "cancelled"}
    with refused(conn, "KL204"):
        conn.execute(query, (run.state_id,))


@pytest.mark.parametrize(
    "call",
    [
        "refresh_groups(%s)",
        "refresh_page(%s, 'x', '', 9)",
        "preview_refresh(%s)",
        "commit_refresh(%s)",
        "finish_refresh(%s, 'failed', 0, 0, null)",
    ],
)
def test_run_is_for_the_principal_that_began_it(conn: Connection, call: str) -> None:
    query = f"select * from kl.{call}".encode()
    write(conn, "s", state(1))
    one, other, admin = (
        new_token(conn, scope, name=name)
        for scope, name in (("state:write", "a"), ("state:write", "b"), ("admin", "c"))
    )
    act(conn, one)
    run = begin(conn)
    act(conn, other)
    with refused(conn, "KL102"):
        conn.execute(query, (run.id,))
    act(conn, admin)
    with conn.transaction(force_rollback=True):
        conn.execute(query, (run.id,))
    act(conn, one)
    conn.execute(query, (run.id,))


def test_run_of_a_state_out_of_reach_is_refused(conn: Connection) -> None:
    write(conn, "a/x", state(1, resource()))
    run = begin(conn, "a/x")
    act(conn, new_token(conn, "state:write", prefix="b/"))
    with refused(conn, "KL102"):
        run.groups()


def test_begin_takes_a_version_that_a_refresh_wrote(conn: Connection) -> None:
    stage(conn, state(1, resource())).import_("s")
    assert refresh(conn).version_no == 2
    assert begin(conn).version_no == 2
