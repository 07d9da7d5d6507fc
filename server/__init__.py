"""The HTTP face of Kilolock."""
