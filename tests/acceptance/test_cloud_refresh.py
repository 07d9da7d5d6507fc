"""kl refresh with a real cloud provider: what it finds is what Terraform finds."""

import json
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.acceptance.cloud import cli_configuration, provider_block
from tests.acceptance.programs import Served, Terraform, backend
from tests.acceptance.refreshing import PROVIDER, Refreshing

MAIN = """
resource "aws_s3_bucket" "logs" {
  for_each = toset(["audit", "access.log"])
  bucket   = "rf-${each.key}"
}

resource "aws_ssm_parameter" "plain" {
  name  = "/rf/plain"
  type  = "String"
  value = "1"
  tags  = { owner = "ann", team = "x" }
}

resource "aws_dynamodb_table" "items" {
  name         = "rf-items"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  attribute {
    name = "id"
    type = "S"
  }
}

resource "terraform_data" "note" { input = aws_ssm_parameter.plain.arn }
"""
WEST = """
provider "aws" {
  alias                       = "west"
  region                      = "us-west-2"
  access_key                  = "test"
  secret_key                  = "test"
  skip_credentials_validation = true
  skip_metadata_api_check     = true
  skip_requesting_account_id  = true
  endpoints { ssm = "%s" }
}
resource "aws_ssm_parameter" "east" {
  name  = "/rf/both"
  type  = "String"
  value = "1"
}
resource "aws_ssm_parameter" "west" {
  provider = aws.west
  name     = "/rf/both"
  type     = "String"
  value    = "1"
}
"""


@pytest.fixture
def at(served: Served, state: str, mirror: Path, cloud: str) -> Refreshing:
    """The test's state, refreshed from the cloud."""
    return Refreshing(served, state, mirror, cloud)


@pytest.fixture
def terraform(at: Refreshing, terraform_program: str, tmp_path: Path) -> Terraform:
    """Terraform with the provider and the state as its backend; not initialised."""
    made = Terraform(
        tmp_path / "tf", terraform_program, cli_configuration=cli_configuration(at.mirror)
    )
    made.write(backend(at.served, at.state), "backend.tf")
    made.write(provider_block(at.cloud), "provider.tf")
    return made


def _client(service: str, at: Refreshing, region: str = "eu-west-1") -> Any:  # noqa: ANN401
    return boto3.client(
        service,
        endpoint_url=at.cloud,
        region_name=region,
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )


def _planned(terraform: Terraform, *words: str) -> dict[str, list[str]]:
    """Return what Terraform would do, by address; `plan` may refresh or not."""
    terraform("plan", "-out=plan.bin", *words)
    plan = json.loads(terraform("show", "-json", "plan.bin"))
    return {
        change["address"]: change["change"]["actions"]
        for change in plan["resource_changes"]
        if change["change"]["actions"] != ["no-op"]
    }


@pytest.mark.slow
def test_finds_what_changed_and_terraform_agrees(at: Refreshing, terraform: Terraform) -> None:
    terraform.write(MAIN)
    terraform("init")
    terraform("apply", "-auto-approve")
    terraform("apply", "-auto-approve")
    at.configure()
    [(settled,)] = at.served.query(
        "select s.version_no from states as s where s.state_name = %s", at.state
    )

    dry = at.refresh("--dry-run")
    assert (dry["to_version_no"], dry["changed_addresses"]) == (None, [])
    assert at.runs() == [("succeeded", settled, None, 4, 0, 0)]
    live = at.refresh()
    assert (live["to_version_no"], live["changed_addresses"]) == (settled + 1, [])
    assert at.runs()[1:] == [("succeeded", settled, settled + 1, 4, 0, 0)]
    assert at.served.query(
        "select v.source, v.run_id::text from state_versions as v "
        "where v.state_name = %s and v.is_current",
        at.state,
    ) == [("refresh", live["refresh_run_id"])]
    assert f"from v{settled} to v{settled + 1}" in at.served.kl("status", at.state)

    _client("s3", at).delete_bucket(Bucket="rf-access.log")
    _client("ssm", at).add_tags_to_resource(
        ResourceType="Parameter",
        ResourceId="/rf/plain",
        Tags=[{"Key": "owner", "Value": "bob"}],
    )
    found = at.refresh()
    bucket, parameter = 'aws_s3_bucket.logs["access.log"]', "aws_ssm_parameter.plain"
    assert found["changed_addresses"] == [bucket, parameter]
    assert at.drift() == [(bucket, "deleted"), (parameter, "changed")]
    assert at.served.query(
        "select c.change ->> 'path' from current_resource_drift as d "
        "cross join jsonb_array_elements(d.changes) as c (change) "
        "where d.state_name = %s and d.address = %s order by 1",
        at.state,
        parameter,
    ) == [("tags.owner",), ("tags_all.owner",)]

    planned = _planned(terraform, "-refresh=false")
    assert planned == {bucket: ["create"], parameter: ["update"]}
    assert _planned(terraform) == planned

    assert at.refresh()["changed_addresses"] == []
    assert len(at.drift()) == 2
    terraform("apply", "-auto-approve")
    assert at.drift() == []
    assert at.served.query(
        "select h.address, h.cleared_by from kl.drift_history(%s) as h", at.state
    ) == [(bucket, "apply"), (parameter, "apply")]
    # What it has just made the provider reads otherwise; Terraform's next refresh stores that.
    terraform("apply", "-auto-approve")
    assert at.refresh()["changed_addresses"] == []


def test_the_provider_itself_upgrades_what_an_older_one_wrote(at: Refreshing) -> None:
    _client("dynamodb", at).create_table(
        TableName="older",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    table = {"mode": "managed", "type": "aws_dynamodb_table", "name": "t", "provider": PROVIDER}
    known = {"schema_version": 1, "attributes": {"id": "older", "name": "older"}}
    at.put(
        {
            "version": 4,
            "terraform_version": "1.11.4",
            "serial": 1,
            "lineage": "older",
            "outputs": {},
            "resources": [table | {"instances": [known]}],
        }
    )
    at.configure()
    assert at.refresh()["resources_failed"] == 0

    document = at.document()
    (instance,) = document["resources"][0]["instances"]
    current = instance["schema_version"]
    assert current > 0
    instance["schema_version"] = 0
    document["serial"] += 1
    at.put(document)
    found = at.refresh()
    assert found["resources_failed"] == 0
    (upgraded,) = at.document()["resources"][0]["instances"]
    assert upgraded["schema_version"] == current
    assert at.drift() == [("aws_dynamodb_table.t", "upgraded")]


@pytest.mark.slow
def test_aliases_of_two_regions_are_two_providers(at: Refreshing, terraform: Terraform) -> None:
    terraform.write(WEST % at.cloud)
    terraform("init")
    terraform("apply", "-auto-approve")
    terraform("apply", "-auto-approve")
    at.configure()
    at.configure("--alias", "west", region="us-west-2")
    assert at.refresh()["changed_addresses"] == []

    _client("ssm", at, "us-west-2").put_parameter(Name="/rf/both", Value="2", Overwrite=True)
    found = at.refresh()
    assert (found["resources_checked"], found["changed_addresses"]) == (
        2,
        ["aws_ssm_parameter.west"],
    )
    assert _planned(terraform, "-refresh=false") == {"aws_ssm_parameter.west": ["update"]}


@pytest.mark.slow
def test_three_hundred_resources_one_by_one_and_ten_at_a_time(
    at: Refreshing, terraform: Terraform
) -> None:
    terraform.write(
        'resource "aws_iam_group" "g" {\n  count = 300\n  name = "g${count.index}"\n}\n'
    )
    terraform("init")
    terraform("apply", "-auto-approve")
    terraform("apply", "-auto-approve")
    at.configure()
    iam = _client("iam", at)
    for name in ("g7", "g299"):
        iam.delete_group(GroupName=name)
    expected = ["aws_iam_group.g[7]", "aws_iam_group.g[299]"]
    for parallelism in ("1", "10"):
        found = at.refresh("--dry-run", "--parallelism", parallelism)
        assert (found["resources_checked"], found["changed_addresses"]) == (300, expected)
    assert at.refresh()["changed_addresses"] == expected
    assert _planned(terraform, "-refresh=false") == _planned(terraform)


def test_what_terraform_provides_itself_is_left_as_it_is(
    at: Refreshing, terraform: Terraform
) -> None:
    (terraform.folder / "provider.tf").unlink()
    terraform.write('resource "terraform_data" "a" { input = "x" }')
    terraform("init")
    terraform("apply", "-auto-approve")
    before = at.document()
    found = at.refresh()
    assert (found["resources_checked"], found["resources_skipped"]) == (0, 1)
    assert at.document() == before | {"serial": before["serial"] + 1}


def test_state_whose_provider_is_missing_fails_object_by_object(at: Refreshing) -> None:
    missing = 'provider["registry.terraform.io/acme/nowhere"]'
    block = {
        "mode": "managed",
        "type": "nowhere_thing",
        "name": "a",
        "provider": missing,
        "instances": [
            {"index_key": n, "schema_version": 0, "attributes": {"id": str(n)}} for n in (0, 1)
        ],
    }
    at.put(
        {
            "version": 4,
            "terraform_version": "1.11.4",
            "serial": 1,
            "lineage": "missing",
            "outputs": {},
            "resources": [block],
        }
    )
    done = at.kl("refresh", at.state, "--format", "json")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert [failure["address"] for failure in found["failures"]] == [
        "nowhere_thing.a[0]",
        "nowhere_thing.a[1]",
    ]
    assert at.runs() == [("failed", 1, None, 2, 0, 2)]
    assert PROVIDER not in done.stdout
