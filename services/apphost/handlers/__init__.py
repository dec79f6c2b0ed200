"""One file per URL. Each handler is a class over what it needs, made in `app.py`."""
