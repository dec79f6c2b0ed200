"""One file per step or page. They read requests and write answers; the checks live beside them."""
