"""A provider program that answers as a scenario says; see `scenario.py` for what one may hold."""
