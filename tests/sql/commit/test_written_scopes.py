from tests.clusters import Connection
from tests.documents import instance, resource, state
from tests.sql.commit.committing import commit, delta, writer
from tests.sql.engine import rows
from tests.sql.staging import stage, write

A = "terraform_data.a"


def test_a_version_keeps_what_its_run_had_reserved_for_writing(owner_conn: Connection) -> None:
    write(owner_conn, "s", state(1, resource("a")))
    run = writer(owner_conn, A, "module.m", ("terraform_data.r", "read"))
    commit(run, delta(resource("a", instance({"id": "x"}))))
    run.finish()
    stage(owner_conn, state(3)).import_("s")
    found = rows(
        owner_conn,
        "select version_no, written_scopes @> kl.address_path(%s) as a, "
        "written_scopes @> kl.address_path('module.m.x.y') as m, "
        "written_scopes @> kl.address_path('terraform_data.r') as r "
        "from kl_internal.state_versions order by version_no",
        A,
    )
    assert found == [
        {"version_no": 1, "a": None, "m": None, "r": None},
        {"version_no": 2, "a": True, "m": True, "r": False},
        {"version_no": 3, "a": None, "m": None, "r": None},
    ]
