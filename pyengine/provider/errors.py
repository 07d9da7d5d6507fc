"""What can go wrong between us and a provider program."""

from collections.abc import Mapping, Sequence
from typing import Any

from pyengine.errors import KilolockError
from pyengine.provider.diagnostics import Diagnostic


class ProviderError(KilolockError):
    """A provider could not be found, started, understood, or reported an error.

    Codes: provider_not_found, provider_checksum, provider_start_failed, provider_failed (it said
    so: see `diagnostics`), provider_misbehaved (an answer the protocol forbids), provider_crashed
    (the process ended), provider_call_failed (any other RPC status), provider_unsupported.
    """

    def __init__(
        self,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        diagnostics: Sequence[Diagnostic] = (),
    ) -> None:
        super().__init__(code, message, details)
        self.diagnostics = tuple(diagnostics)
