from collections.abc import Iterator

import psycopg
import pytest

from tests.clusters import Cluster, Connection, Database
from tests.documents import instance, resource, state
from tests.sql.auth.acting import act, act_as_admin, new_token
from tests.sql.staging import refused, write

HOLDER = "kl_test_secrets"
REVEAL = "select kl.reveal(p_state => %s, p_address => %s, p_deposed_key => %s)"
PASSWORD = [[{"type": "get_attr", "value": "password"}]]


@pytest.fixture(scope="module")
def revealing(cluster: Cluster) -> Iterator[Database]:
    """A database with a state that has secrets, and a login that may have them revealed."""
    with cluster.clone() as database:
        with database.connect("postgres") as root:
            if not root.execute("select 1 from pg_roles where rolname = %s", (HOLDER,)).fetchone():
                root.execute(f"create role {HOLDER} login in role kl_secrets".encode())
        with database.connect() as conn:
            secret = {"sensitive_attributes": PASSWORD}
            write(
                conn,
                "s",
                state(
                    1,
                    resource(
                        "a",
                        instance({"password": "now"}, **secret),
                        instance({"password": "then"}, deposed="0123abcd", **secret),
                    ),
                    resource("n", instance({"password": "zero"}, index_key=0, **secret)),
                    resource(
                        "k",
                        instance({"password": "key"}, index_key="e\u0301", **secret),
                        module='module.m["x"]',
                    ),
                    resource("o", instance({"password": "type"}, **secret), type="output"),
                    outputs={"o": {"value": "out", "type": "string", "sensitive": True}},
                ),
            )
        yield database


@pytest.fixture
def holder(revealing: Database) -> Iterator[Connection]:
    """A session of that login, rolled back."""
    with revealing.connect(HOLDER, autocommit=False) as conn:
        yield conn
        conn.rollback()


def test_members_of_kl_secrets_get_the_value_and_leave_an_event(revealing: Database) -> None:
    with revealing.connect(HOLDER) as conn:
        for address, key, value in (
            ("terraform_data.a", "", {"password": "now"}),
            ("terraform_data.a", "0123abcd", {"password": "then"}),
            ("output.o", "", "out"),
        ):
            assert conn.execute(REVEAL, ("s", address, key)).fetchone() == (value,)
    with revealing.connect("kl_query") as conn:
        assert conn.execute(
            "select e.principal, e.state_name, e.detail ->> 'address' from kl.events as e"
            " where e.kind = 'reveal' order by e.event_id"
        ).fetchall() == [
            (HOLDER, "s", "terraform_data.a"),
            (HOLDER, "s", "terraform_data.a"),
            (HOLDER, "s", "output.o"),
        ]


@pytest.mark.parametrize(
    ("address", "key", "stored", "value"),
    [
        (" terraform_data . a ", "", "terraform_data.a", "now"),
        ("resource.terraform_data.a", "0123abcd", "terraform_data.a", "then"),
        ("terraform_data.n[ 00 ]", "", "terraform_data.n[0]", "zero"),
        (
            'module.m["\\u0078"].terraform_data.k["\u00e9"]',
            "",
            'module.m["x"].terraform_data.k["e\u0301"]',
            "key",
        ),
        ("resource.output.o", "", "output.o", "type"),
    ],
)
def test_address_is_found_however_it_is_spelt_and_logged_as_stored(
    holder: Connection, address: str, key: str, stored: str, value: str
) -> None:
    notices: list[str] = []
    holder.execute("set client_min_messages = log")
    holder.add_notice_handler(lambda d: notices.append(str(d.message_primary)))
    assert holder.execute(REVEAL, ("s", address, key)).fetchone() == ({"password": value},)
    assert notices == [f'{HOLDER} ({HOLDER}) reveals {stored} of state "s"']


def test_members_of_kl_secrets_read_nothing_else(holder: Connection) -> None:
    for query in ("select 1 from kl.resources", "select kl.state_id('s')"):
        with refused(holder, "42501"):
            holder.execute(query.encode())


@pytest.mark.parametrize(
    ("state_name", "address", "sqlstate"),
    [
        ("s", "terraform_data.b", "KL203"),
        ("s", "terraform_data.n", "KL203"),
        ("s", "terraform_data.n[1]", "KL203"),
        ("s", "terraform_data", "KL001"),
        ("s", "output.x", "KL203"),
        ("t", "output.o", "KL201"),
        ("ws_0/env_0/s", "output.o", "KL201"),
        ("", "output.o", "KL001"),
    ],
)
def test_what_is_not_there_is_named(
    holder: Connection, state_name: str, address: str, sqlstate: str
) -> None:
    with refused(holder, sqlstate):
        holder.execute(REVEAL, (state_name, address, ""))


def test_read_only_transaction_reveals_nothing(holder: Connection) -> None:
    holder.execute("set transaction read only")
    with refused(holder, "25006"):
        holder.execute(REVEAL, ("s", "terraform_data.a", ""))


def test_rolled_back_reveal_stays_in_the_servers_log(revealing: Database) -> None:
    notices: list[str] = []
    with revealing.connect(HOLDER, autocommit=False) as conn:
        # The session may see what the log gets.
        conn.execute("set client_min_messages = log")
        conn.add_notice_handler(lambda d: notices.append(f"{d.severity} {d.message_primary}"))
        conn.execute(REVEAL, ("s", "output.o", ""))
        conn.rollback()
    assert notices == [f'LOG {HOLDER} ({HOLDER}) reveals output.o of state "s"']


def test_only_installation_admins_reveal_through_a_server(revealing: Database) -> None:
    with revealing.connect(autocommit=False) as conn:
        for token, sqlstate in (
            (new_token(conn, "state:read", "state:write", "outputs:read"), "KL102"),
            (new_token(conn, "admin", prefix="s"), "KL102"),
            ("", "KL101"),
        ):
            act(conn, token)
            with refused(conn, sqlstate):
                conn.execute(REVEAL, ("s", "output.o", ""))
        act(conn, new_token(conn, "admin"))
        assert conn.execute(REVEAL, ("s", "output.o", "")).fetchone() == ("out",)
        act_as_admin(conn)
        conn.execute(REVEAL, ("s", "output.o", ""))
        conn.rollback()


def test_analysts_may_not_call_it(revealing: Database) -> None:
    with (
        revealing.connect("kl_query") as conn,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        conn.execute(REVEAL, ("s", "output.o", ""))
