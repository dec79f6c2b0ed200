"""The supervisor behind `make run`, part by part; `tests/stack` has it whole."""
