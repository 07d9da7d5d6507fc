"""The command line of Kilolock."""
