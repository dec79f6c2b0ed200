"""One file for each thing a client asks the provider for."""
