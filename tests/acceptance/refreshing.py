"""`kl refresh` of states whose provider talks to the cloud on loopback."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.acceptance.cloud import SERVICES
from tests.acceptance.programs import BIN, Served, environment

SOURCE: Final = "hashicorp/aws"
PROVIDER: Final = f'provider["registry.terraform.io/{SOURCE}"]'
KEYS: Final = {"CLOUD_KEY_ID": "test", "CLOUD_SECRET": "test"}


@dataclass(frozen=True)
class Refreshing:
    """A state, the provider's programs, and the cloud."""

    served: Served
    state: str
    mirror: Path
    cloud: str

    def kl(self, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        """Run kl, whatever comes of it."""
        return subprocess.run(
            [str(BIN / "kl"), *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=600,
            input=text,
            env=environment(
                KL_DATA_DIR=str(self.served.data_dir), KL_PROVIDER_PATH=str(self.mirror), **KEYS
            ),
        )

    def configure(self, *words: str, region: str = "eu-west-1") -> None:
        """Store what the provider needs to talk to the cloud, keys by reference."""
        config = {
            "region": region,
            "access_key": {"env": "CLOUD_KEY_ID"},
            "secret_key": {"env": "CLOUD_SECRET"},
            "s3_use_path_style": True,
            "skip_credentials_validation": True,
            "skip_metadata_api_check": "true",
            "skip_requesting_account_id": True,
            "endpoints": [dict.fromkeys(SERVICES, self.cloud)],
        }
        command = ("provider", "configure", self.state, SOURCE, *words, "--from-json", "-")
        done = self.kl(*command, text=json.dumps(config))
        assert done.returncode == 0, done.stderr

    def refresh(self, *words: str) -> dict[str, Any]:
        """Refresh the state without a failure; return what kl says of it."""
        done = self.kl("refresh", self.state, *words, "--format", "json")
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def runs(self) -> list[tuple[Any, ...]]:
        """Return status, versions and counts of every refresh of the state, oldest first."""
        return self.served.query(
            "select r.status, r.from_version_no, r.to_version_no, r.resources_checked, "
            "r.resources_changed, r.resources_failed from refresh_runs as r "
            "where r.state_name = %s order by r.started_at",
            self.state,
        )

    def drift(self) -> list[tuple[Any, ...]]:
        """Return address and kind of what drifts."""
        return self.served.query(
            "select d.address, d.drift_kind from current_resource_drift as d "
            "where d.state_name = %s order by d.path",
            self.state,
        )

    def put(self, document: dict[str, Any]) -> None:
        """Import a document as the state."""
        done = self.kl("import", "-", "--name", self.state, text=json.dumps(document))
        assert done.returncode == 0, done.stderr

    def document(self) -> dict[str, Any]:
        """Return the state's document."""
        found: dict[str, Any] = json.loads(self.served.kl("export", self.state))
        return found
