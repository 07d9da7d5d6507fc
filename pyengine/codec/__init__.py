"""Compile a schema into an exact translator between the state's JSON and the wire's MessagePack."""
