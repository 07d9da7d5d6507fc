"""kl.create_workspace, kl.create_environment, kl.list_environments."""

import json
import re

from tests.clusters import Connection
from tests.documents import resource, state
from tests.sql.auth.acting import act, act_as_admin, new_environment, new_token, one
from tests.sql.staging import read, refused, write


def test_environment_is_the_prefix_of_its_states_names(conn: Connection) -> None:
    place = new_environment(conn, "acme", "prod")
    assert re.fullmatch(r"ws_[0-9a-z]{12}/env_[0-9a-z]{12}", place)
    write(conn, f"{place}/a/b", state(1, resource("x")))
    assert conn.execute(
        "select workspace_name, environment_name, state_count from kl.list_environments()"
        " where environment = %s",
        (place,),
    ).fetchone() == ("acme", "prod", 1)


def test_a_combined_name_is_of_its_environment_whatever_else_is_called_so(conn: Connection) -> None:
    place = new_environment(conn, "acme", "prod")
    home = one(
        conn, "select environment from kl.list_environments() where environment_name = 'default'"
    )
    write(conn, f"{place}/s", state(1, resource("real")))
    write(conn, f"{home}/{place}/s", state(1, resource("shadow")))
    for name, address in ((f"{place}/s", "real"), (f"{home}/{place}/s", "shadow")):
        found = json.loads(read(conn, name))
        assert [r["name"] for r in found["resources"]] == [address]


def test_workspace_goes_by_id_or_name_and_may_be_empty(conn: Connection) -> None:
    act_as_admin(conn)
    public_id = one(conn, "select kl.create_workspace('w1')")
    assert conn.execute(
        "select environment, environment_name from kl.list_environments()"
        " where workspace_name = 'w1'"
    ).fetchall() == [(public_id, None)]
    assert one(conn, "select kl.create_environment(%s, 'a')", public_id).startswith(public_id)
    assert one(conn, "select kl.create_environment('w1', 'b')").startswith(public_id)


def test_names_are_taken_once(conn: Connection) -> None:
    new_environment(conn, "w1", "a")
    for query, sqlstate in (
        ("select kl.create_workspace('w1')", "KL001"),
        ("select kl.create_environment('w1', 'a')", "KL001"),
        ("select kl.create_environment('nothing', 'a')", "KL201"),
    ):
        with refused(conn, sqlstate):
            conn.execute(query.encode())


def test_tenancy_is_for_admins_of_the_installation(conn: Connection) -> None:
    act(conn, new_token(conn, "admin", prefix="a"))
    for query in (
        "select kl.create_workspace('w1')",
        "select kl.create_environment('default', 'a')",
        "select environment from kl.list_environments()",
    ):
        with refused(conn, "KL102"):
            conn.execute(query.encode())
