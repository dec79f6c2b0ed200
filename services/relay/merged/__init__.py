"""Several servers as one: names, lists, addresses, cursors."""
