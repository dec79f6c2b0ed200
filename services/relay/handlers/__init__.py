"""One file for each URL, or for each kind of caller where there are two."""
