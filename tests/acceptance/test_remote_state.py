"""Tokens and TLS as the real terraform uses them, terraform_remote_state above all."""

import datetime
import ipaddress
import json
import ssl
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.acceptance.programs import Served, Terraform, serving

Folders = Callable[[], Terraform]

PRODUCER: Final = """
resource "terraform_data" "db" {
  input = { host = "db.example", password = "planted-resource" }
}
output "host" {
  value = terraform_data.db.output.host
}
output "password" {
  value     = "s3cret:/@#%é"
  sensitive = true
}
"""
CONSUMER: Final = """
data "terraform_remote_state" "net" {{
  backend = "http"
  config = {{
    address                   = "{address}"
    username                  = "anybody"
    password                  = "{token}"
    client_ca_certificate_pem = file("{ca}")
  }}
}}
output "seen" {{
  value     = data.terraform_remote_state.net.outputs
  sensitive = true
}}
"""


@pytest.fixture(scope="module")
def guarded() -> Iterator[tuple[Served, Path]]:
    """A kld that asks for tokens and speaks TLS with a certificate of its own, and that."""
    with tempfile.TemporaryDirectory(prefix="kl-", dir="/tmp") as name:
        certificate, key = Path(name) / "cert.pem", Path(name) / "key.pem"
        self_signed(certificate, key)
        variables = {
            "KL_AUTH": "database",
            "KL_TLS_CERT": str(certificate),
            "KL_TLS_KEY": str(key),
        }
        with serving(Path(name) / "data", **variables) as served:
            yield served, certificate


def self_signed(certificate: Path, key: Path) -> None:
    """Write a certificate for 127.0.0.1 that signs itself, and its key."""
    private = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "kilolock test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), True)
        .sign(private, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        private.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )


def token(served: Served, name: str, *words: str) -> str:
    """Make a token with `kld token create`."""
    return served.kld("token", "create", name, *words).strip()


def backend(served: Served, state: str, password: str, ca: Path | None) -> str:
    """Return a backend block with a token; without `ca` the certificate goes unverified."""
    address = served.state_url(state)
    trust = "skip_cert_verification = true"
    if ca is not None:
        trust = f"client_ca_certificate_pem = <<-PEM\n{ca.read_text(encoding='utf-8')}PEM"
    return f"""terraform {{
  backend "http" {{
    address        = "{address}"
    lock_address   = "{address}"
    unlock_address = "{address}"
    username       = "any body@/é"
    password       = "{password}"
    {trust}
  }}
}}
"""


def consumer(served: Served, folder: Folders, state: str, secret: str, ca: Path) -> Terraform:
    """Return a folder whose configuration reads a state's outputs."""
    terraform = folder()
    address = served.state_url(state)
    terraform.write(CONSUMER.format(address=address, token=secret, ca=ca))
    terraform("init", "-no-color")
    return terraform


def test_consumer_with_outputs_only_reads_the_outputs(
    guarded: tuple[Served, Path], folder: Folders
) -> None:
    served, ca = guarded
    writer = token(served, "writer", "--scope", "state:read", "--scope", "state:write")
    producer = folder()
    producer.write(PRODUCER)
    producer.write(backend(served, "net", writer, ca), "backend.tf")
    producer("init", "-no-color")
    producer("apply", "-auto-approve", "-no-color")

    reader = token(served, "reader", "--scope", "outputs:read", "--state-prefix", "net")
    terraform = consumer(served, folder, "net", reader, ca)
    terraform("apply", "-auto-approve", "-no-color")
    seen = json.loads(terraform("output", "-json", "seen"))
    assert seen == {"host": "db.example", "password": "s3cret:/@#%é"}

    # The same token gives nothing else.
    state = (terraform.folder / "terraform.tfstate").read_text(encoding="utf-8")
    assert "planted-resource" not in state
    context = ssl.create_default_context(cafile=str(ca))
    with httpx.Client(
        base_url=served.url, auth=("x", reader), verify=context, timeout=60
    ) as client:
        assert client.get("/v1/states/net").json()["resources"] == []
        for method, path in (
            ("POST", "/v1/states/net"),
            ("LOCK", "/v1/states/net"),
            ("GET", "/v1/admin/export?name=net"),
            ("GET", "/v1/admin/states"),
            ("GET", "/v1/states/other"),
        ):
            body = b'{"version": 4}' if method == "POST" else b'{"ID": "1"}'
            answer = client.request(method, path, content=None if method == "GET" else body)
            assert answer.status_code == 403, (method, path)


def test_terraform_says_what_is_wrong_with_a_token(
    guarded: tuple[Served, Path], folder: Folders
) -> None:
    served, ca = guarded
    elsewhere = token(served, "elsewhere", "--scope", "state:read", "--state-prefix", "else/")
    for password, words in (
        ("", "requires auth"),
        ("kl_wrong", "requires auth"),
        (elsewhere, "invalid auth"),
    ):
        terraform = folder()
        terraform.write(backend(served, "refused", password, ca), "backend.tf")
        done = terraform.attempt("init", "-no-color")
        assert done.exit_code == 1
        assert words in " ".join((done.out + done.err).split())


def test_reader_can_plan_without_a_lock_and_not_write(
    guarded: tuple[Served, Path], folder: Folders
) -> None:
    served, _ = guarded
    reader = token(served, "looks", "--scope", "state:read")
    terraform = folder()
    terraform.write(PRODUCER)
    terraform.write(backend(served, "looked-at", reader, None), "backend.tf")
    terraform("init", "-no-color")
    terraform("plan", "-lock=false", "-no-color")
    done = terraform.attempt("apply", "-auto-approve", "-no-color")
    assert done.exit_code == 1
    assert "invalid auth" in " ".join((done.out + done.err).split())
    assert served.query("select 1 from states where state_name = 'looked-at'") == []


def test_certificate_nobody_knows_is_refused_by_the_client(
    guarded: tuple[Served, Path], folder: Folders
) -> None:
    served, ca = guarded
    terraform = folder()
    block = backend(served, "net", "kl_x", None).replace("skip_cert_verification = true", "")
    terraform.write(block, "backend.tf")
    done = terraform.attempt("init", "-no-color")
    assert done.exit_code == 1
    assert "certificate" in done.out + done.err
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{served.url}/healthz", timeout=60)
    assert httpx.get(
        f"{served.url}/healthz", verify=ssl.create_default_context(cafile=str(ca)), timeout=60
    )
