"""The prefix stands after the doctype and before everything else; the document stays as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.apphost import document
from shared.contracts.config import Links

MARK = document.prefix(Links.OFF)


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
    assert document.wrap(before + after, Links.OFF) == before + MARK + after


@given(st.binary(max_size=200))
def test_the_servers_bytes_are_all_there_and_in_order(html: bytes) -> None:
    wrapped = document.wrap(html, Links.HOST)
    assert wrapped.replace(document.prefix(Links.HOST), b"", 1) == html


def test_a_megabyte_of_comments_is_no_trap() -> None:
    html = b"<!-- x -->" * 100_000
    assert document.wrap(html, Links.OFF) == MARK + html
    html = b"<!--" * 250_000
    assert document.wrap(html, Links.OFF) == MARK + html
