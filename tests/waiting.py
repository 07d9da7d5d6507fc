"""Waiting for what another process does, as long as a busy machine may take."""

import time
from typing import Any


def wait_for(condition: Any, seconds: int = 60) -> Any:  # noqa: ANN401 - what the condition returns
    """Return the first true value of `condition()`; fail after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)
    return value
