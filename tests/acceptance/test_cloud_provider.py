"""A real cloud provider against a cloud on loopback; its resources as rows."""

import json
from pathlib import Path

import pytest

from tests.acceptance.cloud import cli_configuration, provider_block
from tests.acceptance.programs import Served, Terraform, backend

MAIN = """
variable "retention" { default = "30" }

resource "aws_s3_bucket" "logs" {
  for_each = toset(["audit", "access.log"])
  bucket   = "kl-${each.key}"
  tags     = { retention = var.retention, type = "string", value = "x" }
}

resource "aws_ssm_parameter" "password" {
  name  = "/app/password"
  type  = "SecureString"
  value = "hunter2"
}

resource "aws_ssm_parameter" "plain" {
  name  = "/app/retention"
  type  = "String"
  value = var.retention
}

resource "aws_dynamodb_table" "items" {
  name         = "items"
  billing_mode = "PAY_PER_REQUEST"
  hash_key     = "id"
  range_key    = "at"
  attribute {
    name = "id"
    type = "S"
  }
  attribute {
    name = "at"
    type = "N"
  }
}

resource "aws_sns_topic" "events" { name = "events" }

resource "aws_iam_role" "writer" {
  name = "writer"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Action = "sts:AssumeRole", Effect = "Allow", Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}

resource "aws_iam_policy" "write" {
  name = "write"
  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Action   = ["dynamodb:PutItem"]
      Effect   = "Allow"
      Resource = aws_dynamodb_table.items.arn
    }]
  })
}

resource "aws_iam_role_policy_attachment" "writer" {
  role       = aws_iam_role.writer.name
  policy_arn = aws_iam_policy.write.arn
}

output "topic" { value = aws_sns_topic.events.arn }
"""
TYPES = [
    ("aws_dynamodb_table", 1),
    ("aws_iam_policy", 1),
    ("aws_iam_role", 1),
    ("aws_iam_role_policy_attachment", 1),
    ("aws_s3_bucket", 2),
    ("aws_sns_topic", 1),
    ("aws_ssm_parameter", 2),
]


@pytest.fixture
def terraform(
    served: Served, state: str, mirror: Path, cloud: str, terraform_program: str, tmp_path: Path
) -> Terraform:
    """Terraform with the provider, initialised."""
    made = Terraform(
        tmp_path / "tf", terraform_program, cli_configuration=cli_configuration(mirror)
    )
    made.write(backend(served, state), "backend.tf")
    made.write(provider_block(cloud), "provider.tf")
    made.write(MAIN)
    made("init")
    return made


def test_apply_twice(served: Served, terraform: Terraform, state: str) -> None:
    terraform("apply", "-auto-approve")
    assert (
        served.query(
            "select r.type, count(*) from resources as r where r.state_name = %s group by 1"
            " order by 1",
            state,
        )
        == TYPES
    )
    assert served.query(
        "select r.address, r.attributes ->> 'bucket', r.attributes #>> '{tags,retention}'"
        " from resources as r where r.state_name = %s and r.type = 'aws_s3_bucket' order by 1",
        state,
    ) == [
        ('aws_s3_bucket.logs["access.log"]', "kl-access.log", "30"),
        ('aws_s3_bucket.logs["audit"]', "kl-audit", "30"),
    ]
    assert served.query(
        "select d.depends_on_address from resource_dependencies as d"
        " where d.state_name = %s and d.address = 'aws_iam_role_policy_attachment.writer'"
        " order by 1",
        state,
    ) == [("aws_dynamodb_table.items",), ("aws_iam_policy.write",), ("aws_iam_role.writer",)]
    _assert_secret_is_masked(served, state)

    # The provider reads some things otherwise than it made them; Terraform stores that.
    assert "No changes" in terraform("apply", "-auto-approve")
    assert served.query(
        "select r.type, max(r.create_version_no) from resources as r where r.state_name = %s"
        " and r.type in ('aws_s3_bucket', 'aws_iam_role_policy_attachment') group by 1 order by 1",
        state,
    ) == [("aws_iam_role_policy_attachment", 1), ("aws_s3_bucket", 1)]


@pytest.mark.slow
def test_apply_change_and_destroy(served: Served, terraform: Terraform, state: str) -> None:
    terraform("apply", "-auto-approve")
    terraform("apply", "-auto-approve")
    settled = _version(served, state)
    assert "No changes" in terraform("apply", "-auto-approve")
    assert _version(served, state) == settled

    terraform("apply", "-auto-approve", "-var", "retention=90")
    assert _changed(served, state, settled + 1) == [
        'aws_s3_bucket.logs["access.log"]',
        'aws_s3_bucket.logs["audit"]',
        "aws_ssm_parameter.plain",
    ]

    terraform("destroy", "-auto-approve")
    assert served.query("select from resources as r where r.state_name = %s", state) == []
    exported = json.loads(served.kl("export", state, "--version", "v1"))
    assert sum(len(resource["instances"]) for resource in exported["resources"]) == 9


def _version(served: Served, state: str) -> int:
    [(number,)] = served.query(
        "select s.version_no from states as s where s.state_name = %s", state
    )
    assert isinstance(number, int)
    return number


def _changed(served: Served, state: str, version_no: int) -> list[str]:
    """Return the addresses whose content a version changed."""
    rows = served.query(
        "select h.address from resource_history as h"
        " where h.state_name = %s and h.create_version_no = %s order by 1",
        state,
        version_no,
    )
    assert _version(served, state) == version_no
    return [row[0] for row in rows]


def _assert_secret_is_masked(served: Served, state: str) -> None:
    assert served.query(
        "select r.attributes ->> 'value', r.attributes ->> 'name' from resources as r"
        " where r.state_name = %s and r.name = 'password'",
        state,
    ) == [("(sensitive value)", "/app/password")]
    [(raw,)] = served.query(
        "select v.raw_state::text from state_versions as v where v.state_name = %s", state
    )
    assert "hunter2" not in raw
    assert "hunter2" in served.kl("export", state)
