"""State names as terraform's address option can hold them."""

import pytest

from tests.acceptance.conftest import Folders
from tests.acceptance.programs import Served, backend

ONE = 'resource "terraform_data" "one" {}'


@pytest.mark.parametrize(
    ("escaped", "name"),
    [
        ("team/network/prod", "team/network/prod"),
        ("team%2Fapp%2Fprod", "team/app/prod"),
        ("with%20space", "with space"),
        ("%C3%BCber/stra%C3%9Fe", "über/straße"),
        ("percent%25sign", "percent%sign"),
        ("a.b-c_d~e", "a.b-c_d~e"),
        ("q%3Fmark%23hash", "q?mark#hash"),
    ],
)
def test_a_name_is_what_its_escapes_stand_for(
    served: Served, folder: Folders, escaped: str, name: str
) -> None:
    for post_unlock in (False, True):
        terraform = folder()
        # In HCL text "%{" and "${" open templates; "%2F" does not.
        terraform.write(backend(served, escaped, post_unlock=post_unlock), "backend.tf")
        terraform.write(ONE)
        terraform("init")
        terraform("apply", "-auto-approve")
    assert served.query("select s.state_name from states as s where s.state_name = %s", name) == [
        (name,)
    ]
    assert served.query("select from state_locks as l where l.state_name = %s", name) == []


def test_a_three_part_name_and_its_short_form_are_one_state(
    served: Served, folder: Folders, state: str
) -> None:
    first, second = folder(), folder()
    first.write(backend(served, state), "backend.tf")
    first.write(ONE)
    first("init")
    first("apply", "-auto-approve")
    [(whole,)] = served.query("select s.state from states as s where s.state_name = %s", state)
    assert whole.startswith("ws_")
    assert whole.endswith(f"/{state}")

    second.write(backend(served, whole), "backend.tf")
    second.write(ONE)
    second("init")
    assert "No changes" in second("plan")
    second("destroy", "-auto-approve")
    assert first("state", "list") == ""


def test_an_environment_that_does_not_exist_is_no_place_for_a_state(
    served: Served, folder: Folders
) -> None:
    terraform = folder()
    terraform.write(backend(served, "ws_none/env_none/prod"), "backend.tf")
    terraform.write(ONE)
    terraform("init")
    assert terraform.attempt("apply", "-auto-approve").exit_code == 1
    assert served.query("select from states as s where s.state_name like '%%none%%'") == []
