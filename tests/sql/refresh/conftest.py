"""Two sessions on one state, for refreshes that meet others."""

from tests.sql.test_concurrency import pair

__all__ = ["pair"]
