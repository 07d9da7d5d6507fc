"""A large made-up state, and a long history for it."""

from typing import Any

from tests.clusters import Connection

TYPES = ("aws_instance", "aws_s3_bucket", "aws_ebs_volume", "aws_lambda_function", "aws_sqs_queue")
PROVIDER = 'provider["registry.terraform.io/hashicorp/aws"]'
BLOCK = 10  # instances of one resource
MODULES = 107  # of 100,000 instances 1,000 at most are in a module or needed by it
HUB = "aws_iam_role.hub"


def document(instances: int, serial: int = 1) -> dict[str, Any]:
    """Return a state of about 1.6 KB per instance: keyed modules, a network that all need, a hub.

    `aws_iam_role.hub` is needed by one resource in a hundred, `aws_vpc.main` by all of them.
    """
    single: list[tuple[str, str, list[str]]] = [
        ("aws_vpc", "main", []),
        ("aws_iam_role", "hub", []),
    ]
    single += [("aws_subnet", f"s{i}", ["aws_vpc.main"]) for i in range(50)]
    resources = [
        _resource(type_, name, None, [_object(name, None, needs)]) for type_, name, needs in single
    ]
    for number in range((instances - len(single)) // BLOCK):
        needs = ["aws_vpc.main", f"aws_subnet.s{number % 50}"]
        needs += [HUB] if number % 100 == 0 else []
        objects = [_object(f"n{number}-{key}", key, sorted(needs)) for key in range(BLOCK)]
        module = f'module.app["r{number % MODULES}"]'
        resources.append(_resource(TYPES[number % len(TYPES)], f"n{number}", module, objects))
    return {
        "version": 4,
        "terraform_version": "1.11.4",
        "serial": serial,
        "lineage": "9f8a4b1c-0000-4000-8000-000000000009",
        "outputs": {},
        "resources": resources,
        "check_results": None,
    }


def address(block: int, key: int) -> str:
    """Return the address of an instance of a block, counted after the single resources."""
    type_ = TYPES[block % len(TYPES)]
    return f'module.app["r{block % MODULES}"].{type_}.n{block}[{key}]'


def _resource(
    type_: str, name: str, module: str | None, objects: list[dict[str, Any]]
) -> dict[str, Any]:
    header = {"mode": "managed", "type": type_, "name": name, "provider": PROVIDER}
    return ({"module": module} if module else {}) | header | {"instances": objects}


def _object(id_: str, key: int | None, needs: list[str]) -> dict[str, Any]:
    attributes: dict[str, Any] = {
        "id": id_,
        "arn": f"arn:aws:ec2:eu-west-1:123456789012:thing/{id_}",
        "tags": {"Name": id_, "team": f"t{len(id_) % 7}"},
        "password": f"secret-{id_}",
        "size": 100,
        "blocks": [
            {"device": f"/dev/sd{letter}", "volume": f"vol-{id_}-{letter}", "encrypted": True}
            for letter in "abcdef"
        ],
        "rules": [{"port": port, "cidr": "10.0.0.0/8", "note": "x" * 40} for port in range(9)],
    }
    return ({} if key is None else {"index_key": key}) | {
        "schema_version": 1,
        "attributes": attributes,
        "sensitive_attributes": [[{"type": "get_attr", "value": "password"}]],
        "private": "eyJzY2hlbWFfdmVyc2lvbiI6IjEifQ==",
        "dependencies": needs,
    }


def add_versions(owner: Connection, state: str, versions: int, changes: int) -> None:
    """Give a state more versions, each changing the size of the hub and of `changes` - 1 others.

    As the write path leaves them, but without documents: hundreds of those would take minutes.
    """
    for _ in range(versions):
        with owner.transaction():
            owner.execute(_PICK, {"state": state, "changes": changes})
            owner.execute(_CLOSE)
            owner.execute(_OPEN)
            owner.execute(_VERSION)
            owner.execute(_MOVE)
            owner.execute("drop table picked")


_PICK = """
create temp table picked as
select r.id, r.state_id, s.current_version_no + 1 as version_no
from kl_internal.states as s
cross join lateral (
    (
        select r.id, r.state_id
        from kl_internal.resources as r
        where r.state_id = s.id and r.closed_no is null
            and r.path = kl.address_path('aws_iam_role.hub') || E'\\x02'
    )
    union
    (
        select r.id, r.state_id
        from kl_internal.resources as r
        where r.state_id = s.id and r.closed_no is null and r.index_key is not null
        order by r.path
        offset (s.current_version_no * 7) %% 500
        limit %(changes)s - 1
    )
) as r
where s.name = %(state)s
"""
_CLOSE = """
update kl_internal.resources as r set closed_no = p.version_no from picked as p where r.id = p.id
"""
_OPEN = """
insert into kl_internal.resources (
    state_id, opened_no, path, address, config_address, module, mode, type, name, index_key,
    deposed, provider, schema_version, attributes, sensitive_attributes, private,
    dependency_set_id, content_hash
)
select
    r.state_id, p.version_no, r.path, r.address, r.config_address, r.module, r.mode, r.type, r.name,
    r.index_key, r.deposed, r.provider, r.schema_version,
    (r.attributes::jsonb || jsonb_build_object('size', p.version_no))::json,
    r.sensitive_attributes, r.private,
    r.dependency_set_id, r.content_hash + p.version_no
from picked as p
inner join kl_internal.resources as r on r.id = p.id
"""
_VERSION = """
insert into kl_internal.state_versions (
    state_id, version_no, serial, lineage, source, actor, principal, terraform_version,
    object_count, created_at
)
select distinct
    v.state_id, p.version_no, v.serial + 1, v.lineage, 'http_backend', 'ann', 'ann',
    v.terraform_version, v.object_count, v.created_at + interval '1 hour'
from picked as p
inner join kl_internal.state_versions as v
    on v.state_id = p.state_id
    and v.version_no = p.version_no - 1
"""
_MOVE = """
update kl_internal.states as s
set current_version_no = p.version_no
from picked as p
where s.id = p.state_id
"""
