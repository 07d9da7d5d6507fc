"""A few states as companies have them: a network, an application, something old."""

import json
from typing import Any

from tests.clusters import Database
from tests.documents import instance, lock_info, resource, state
from tests.importing import put

AWS = 'provider["registry.terraform.io/hashicorp/aws"]'
REMOTE = 'provider["terraform.io/builtin/terraform"]'


def _aws(type_: str, name: str, *instances: dict[str, Any], **members: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return resource(name, *instances, type=type_, **({"provider": AWS} | members))


def network(serial: int = 1) -> dict[str, Any]:
    """Return a network with two open doors; the later one has a third subnet."""
    open_rule = {"protocol": "tcp", "from_port": 22, "to_port": 22}
    open_rule |= {"cidr_blocks": ["10.0.0.0/8", "0.0.0.0/0"], "ipv6_cidr_blocks": []}
    subnets = [
        instance(
            {"id": f"subnet-{key}", "tags": {"Name": f"s{key}"}, "map_public_ip": serial > 1},
            index_key=key,
            dependencies=["module.net.aws_vpc.main"],
        )
        for key in range(serial + 1)
    ]
    return state(
        serial,
        _aws("aws_vpc", "main", instance({"id": "vpc-1", "tags": {}}), module="module.net"),
        _aws("aws_subnet", "this", *subnets, module="module.net"),
        _aws(
            "aws_security_group",
            "ssh",
            instance({"id": "sg-1", "tags": {"Name": "ssh"}, "ingress": [open_rule]}),
        ),
        _aws(
            "aws_vpc_security_group_ingress_rule",
            "web",
            instance(
                {"ip_protocol": "tcp", "from_port": 443, "to_port": 443, "cidr_ipv4": None}
                | {"cidr_ipv6": "::/0"}
            ),
        ),
    )


def application(serial: int = 1, size: int = 1) -> dict[str, Any]:
    """Return an application: buckets, a tainted instance, a deposed one, the network's outputs."""
    config = {"address": "http://localhost:8080/v1/states/network", "lock_address": None}
    remote = {"backend": "http", "config": {"value": config, "type": "dynamic"}, "outputs": {}}
    return state(
        serial,
        resource(
            "network",
            instance(remote),
            mode="data",
            type="terraform_remote_state",
            provider=REMOTE,
        ),
        _aws("aws_ami", "unused", instance({"id": "ami-1"}), mode="data"),
        _aws(
            "aws_s3_bucket",
            "plain",
            instance({"bucket": "plain", "id": "plain", "arn": "arn:aws:s3:::plain", "tags": None}),
        ),
        _aws(
            "aws_s3_bucket",
            "safe",
            instance({"bucket": "safe", "id": "safe", "arn": "arn:aws:s3:::safe", "tags": None}),
        ),
        _aws(
            "aws_s3_bucket_server_side_encryption_configuration",
            "safe",
            instance({"bucket": "safe"}, dependencies=["aws_s3_bucket.safe"]),
        ),
        _aws(
            "aws_instance",
            "web",
            instance(
                {"id": "i-1", "size": size, "tags": {"Name": "web"}, "user_data": "x" * 500},
                status="tainted",
                dependencies=["aws_s3_bucket.plain", "data.terraform_remote_state.network"],
            ),
            instance({"id": "i-0", "size": 0, "tags": {}}, deposed="0badcafe"),
        ),
    )


def legacy() -> dict[str, Any]:
    """Return a state of an old Terraform that manages a bucket of the application as well."""
    bucket = {"bucket": "plain", "arn": "arn:aws:s3:::plain", "tags": {"a": "b"}}
    return state(
        7,
        _aws("aws_s3_bucket", "copy", instance({**bucket, "id": "plain"})),
        lineage="0f3c8e5a-0000-4000-8000-000000000002",
    ) | {"terraform_version": "1.8.5"}


def build(database: Database) -> None:
    """Fill a database: the network grows, the application drifts, the old state is locked."""
    put(database, "network", network(1), network(2))
    put(database, "app", application(1), source="apply")
    put(database, "app", application(2, size=2), source="refresh")
    put(database, "legacy", legacy())
    with database.connect() as conn:
        info = lock_info("11111111-1111-4111-8111-111111111111") | {"Who": "eve@laptop"}
        conn.execute("select kl.lock_state('legacy', %s)", (json.dumps(info),))
    with database.connect("postgres") as conn:
        conn.execute("update kl_internal.state_locks set acquired_at = now() - interval '3 hours'")
        conn.execute(
            "update kl_internal.state_versions as v set created_at = now() - interval '3 days' "
            "from kl_internal.states as s "
            "where s.id = v.state_id and s.name = 'network' and v.version_no = 1"
        )
