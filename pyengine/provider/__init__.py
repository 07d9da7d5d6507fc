"""Find provider programs, run them, and speak plugin protocol 5 and 6 to them."""
