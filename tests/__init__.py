"""Tests mirror the sources; every test name is a sentence."""
