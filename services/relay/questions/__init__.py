"""What servers ask back while they work, on its way to whoever can answer."""
