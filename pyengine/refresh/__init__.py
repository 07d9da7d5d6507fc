"""Ask providers what has become of the objects of a state, and record it as a version."""
