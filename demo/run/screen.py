"""What a person reads: one screen when all is ready, and plain words when something is not."""

import json
import os
import sys
from collections.abc import Mapping
from typing import TextIO

from demo.run.ports import is_free
from demo.run.stack import PartFailed, PortTaken, Stack
from shared.contracts.wire import MCP_PATH, TOKENS_PATH

_BOLD, _DIM, _RED, _LINK = "1", "2", "31", "36"
_SERVERS = 6  # so many are listed, so that the screen stays one screen


class Screen:
    """Writes to a terminal, with colours unless NO_COLOR is set, or plainly to anything else."""

    def __init__(self, out: TextIO = sys.stdout, environ: Mapping[str, str] = os.environ) -> None:
        self._out = out
        dumb = environ.get("TERM") == "dumb" or bool(environ.get("NO_COLOR"))
        self._terminal = out.isatty()
        self._colours = self._terminal and not dumb

    def starting(self) -> None:
        """A sign that something happens."""
        if self._terminal:
            self._write("starting strad …")

    def ready(self, stack: Stack) -> None:
        """Address, accounts, MCP address, a snippet for a client, where things are kept."""
        seconds = self._paint(_DIM, f"ready in {stack.ready_seconds:.1f} s")
        blocks = [
            f"{self._paint(_BOLD, 'strad is running')}   {seconds}",
            self._facts(stack),
            "An MCP client needs an address and no more: it brings you to the sign-in by itself."
            f"\nFor one that cannot, make a token at {self._link(stack.url + TOKENS_PATH)}"
            "\nand put it where the dots are:",
            _indented(_snippet(stack)),
            self._places(stack),
            f"{self._paint(_BOLD, 'Ctrl-C')} ends it.",
        ]
        self._write("\n" + "\n\n".join(_indented(block) for block in blocks) + "\n")

    def _facts(self, stack: Stack) -> str:
        public = stack.plan.config.public_url
        rows = [("Console", public, "" if public == stack.url else "behind a proxy of yours")]
        if public != stack.url:
            rows.append(("Edge", stack.url, "where that proxy finds it; it must pass Host on"))
        if stack.settings.demo:
            rows.append(
                ("Sign in as", "Ada Lovelace", "may use the toy catalogue and the escape room")
            )
            rows.append(("", "Charles Babbage", "may sign in, and use neither"))
        rows.append(("MCP", public + MCP_PATH, "all that you may use, in one"))
        for server in stack.plan.config.servers[:_SERVERS]:
            rows.append(("", f"{public}{MCP_PATH}/{server.slug}", server.name))
        return self._table(rows)

    def _places(self, stack: Stack) -> str:
        folder = stack.folder
        after = "kept" if folder.kept else "removed at the end; STRAD_DATA=./data keeps it"
        return self._table([("Data", str(folder.path), after), ("Logs", str(folder.logs), "")])

    def refused(self, message: str) -> None:
        """Nothing was started, and why."""
        self._write(f"{self._paint(_RED, 'strad did not start.')} {message}")

    def port_taken(self, error: PortTaken, wanted: int) -> None:
        """Which port, and a command that will do."""
        other = next(
            (p for p in range(max(wanted + 10, 8080), 65000, 10) if is_free(p) and is_free(p + 1)),
            0,
        )
        self.refused(f"{error}\n  fix: choose another: make run PORT={other or 'NUMBER'}")

    def failed(self, error: PartFailed) -> None:
        """Which process, and the last lines of its log."""
        self._write(f"\n{self._paint(_RED, str(error))} Its last lines:\n")
        self._write(_indented(error.log or "(it wrote nothing)") + "\n")

    def ending(self) -> None:
        """The end was asked for."""
        if self._terminal:
            self._write("\nending …")

    def lines(self, name: str, text: str) -> None:
        """What a process wrote to its log."""
        for line in text.splitlines():
            self._write(f"{self._paint(_DIM, f'{name:>8} |')} {line}")

    def _table(self, rows: list[tuple[str, str, str]]) -> str:
        width = max(len(value) for _, value, note in rows if note)
        return "\n".join(
            f"{self._paint(_DIM, f'{name:<12}')}{self._value(value)}"
            + (f"{'':<{width - len(value)}}   {self._paint(_DIM, note)}" if note else "")
            for name, value, note in rows
        )

    def _value(self, value: str) -> str:
        return self._link(value) if value.startswith("http") else value

    def _link(self, url: str) -> str:
        return self._paint(_LINK, url)

    def _paint(self, code: str, text: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._colours else text

    def _write(self, text: str) -> None:
        try:
            print(text, file=self._out, flush=True)
        except OSError:
            # nobody reads any more: the terminal was closed. What is still to say goes nowhere, and
            # the end goes on in order
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._out.fileno())
            os.close(nowhere)


def _snippet(stack: Stack) -> str:
    server = {
        "type": "http",
        "url": stack.plan.config.public_url + MCP_PATH,
        "headers": {"Authorization": "Bearer …"},
    }
    return json.dumps({"mcpServers": {"strad": server}}, indent=2, ensure_ascii=False)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}".rstrip() for line in text.splitlines())
