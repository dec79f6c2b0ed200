"""`strad`, the operators' command: check a configuration, print its schema, make keys, audit."""
