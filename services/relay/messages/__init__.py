"""JSON-RPC messages and streams of events, as bytes and as values."""
