"""The prefix stands after the doctype and before everything else; the document stays as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.apphost import document
from shared.contracts.config import AppSettings, Links, Storage

BARE = AppSettings(links=Links.OFF)
EVERY = st.builds(AppSettings, links=st.sampled_from(Links), storage=st.sampled_from(Storage))
MARK = document.prefix(BARE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"<!doctype html>", b"<p>x"),
        (b"<!DOCTYPE HTML>", b"\n<html>"),
        (b'<!DocType html PUBLIC "-//W3C//DTD" "x">', b"<p>"),
        (b"\xef\xbb\xbf<!doctype html>", b"<p>"),
        (b" \r\n\t\f<!doctype html>", b"<p>"),
        (b"<!-- a > b --><!doctype html>", b"<p>"),
        (b"<!-- <head> --> \n<!-- b --><!doctype html>", b"<head>"),
        (b"<!--><!doctype html>", b"<!-- -->"),
        (b"<!---><!doctype html>", b"<p>"),
        (b"<!-- x --!><!doctype html>", b"<p>"),
        (b"<!----><!doctype html>", b"<p>"),
        (b'<?xml version="1.0"?><!doctype html>', b"<p>"),
        # a doctype ends at its first ">" even inside quotes, as in a browser
        (b'<!doctype html "x">', b'"><p>'),
        # no doctype in front: before the first byte
        (b"", b"<p><!doctype html>"),
        (b"", b"<html><!-- <!doctype html> -->"),
        (b"", b"<!-- never closed <!doctype html>"),
        (b"", b"x<!doctype html>"),
        (b"\xef\xbb\xbf", b"<p>"),
        (b"", b"<!doctyp html><p>"),
        (b"", b"<!-- x -- ><!doctype html>"),
        (b"", b""),
    ],
)
def test_the_prefix_has_one_place(before: bytes, after: bytes) -> None:
    assert document.wrap(before + after, BARE) == before + MARK + after


@given(st.binary(max_size=200), EVERY)
def test_the_servers_bytes_are_all_there_and_in_order(html: bytes, app: AppSettings) -> None:
    wrapped = document.wrap(html, app)
    assert wrapped.replace(document.prefix(app), b"", 1) == html


def test_storage_is_added_only_where_the_operator_says_so() -> None:
    assert b"localStorage" not in document.prefix(AppSettings())
    assert b"localStorage" in document.prefix(AppSettings(storage=Storage.MEMORY))


def test_a_megabyte_of_comments_is_no_trap() -> None:
    html = b"<!-- x -->" * 100_000
    assert document.wrap(html, BARE) == MARK + html
    html = b"<!--" * 250_000
    assert document.wrap(html, BARE) == MARK + html
