"""Runs the conformance package and reads what each of its checks said."""

import asyncio
import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
NODE = ROOT / "node_modules/node/bin/node"
PACKAGE = ROOT / "node_modules/@modelcontextprotocol/conformance"
RUN_SECONDS = 180
CLIENT_SECONDS = 60

_FOLDER = re.compile(r"(?:server-)?(?P<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z")


def is_installed() -> bool:
    """Whether Node 22 and the conformance package are in node_modules."""
    return NODE.is_file() and PACKAGE.is_dir()


class Check(NamedTuple):
    """One verdict. `status` is SUCCESS, WARNING, FAILURE or SKIPPED; INFO is a note, no verdict."""

    scenario: str
    id: str
    status: str


@dataclass(frozen=True)
class Report:
    """How often each verdict was given (a scenario may use one id several times)."""

    checks: "Counter[Check]"
    output: str

    @property
    def score(self) -> tuple[int, int]:
        """Passed and not passed."""
        passed = sum(n for check, n in self.checks.items() if check.status == "SUCCESS")
        return passed, self.checks.total() - passed

    @property
    def verdicts(self) -> "Counter[str]":
        """How often each was given."""
        found: Counter[str] = Counter()
        for check, number in self.checks.items():
            found[check.status] += number
        return found

    @property
    def failed(self) -> set[str]:
        """`scenario:check` of every check that said anything but SUCCESS, once or more."""
        return {f"{c.scenario}:{c.id}" for c in self.checks if c.status != "SUCCESS"}


async def run(url: str, version: str, folder: Path) -> Report:
    """Run every scenario of one protocol version against a server's address."""
    options = ["--url", url, "--suite", "all", "--spec-version", version]
    return await _run("server", options, folder)


async def run_client(command: str, scenario: str, version: str, folder: Path) -> Report:
    """Run one scenario against a client: a command that is given the server's address."""
    options = ["--command", command, "--scenario", scenario, "--spec-version", version]
    return await _run("client", [*options, "--timeout", str(CLIENT_SECONDS * 1000)], folder)


async def _run(role: str, options: list[str], folder: Path) -> Report:
    argv = [str(NODE), str(PACKAGE / "dist/index.js"), role, *options, "--output-dir", str(folder)]
    process = await asyncio.create_subprocess_exec(
        *argv,
        cwd=ROOT,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        output, _ = await asyncio.wait_for(process.communicate(), RUN_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()
        raise
    return Report(read(folder), output.decode(errors="replace"))


def read(folder: Path) -> "Counter[Check]":
    """The verdicts that a run left in its output folder."""
    found: Counter[Check] = Counter()
    for file in folder.glob("*/checks.json"):
        match = _FOLDER.fullmatch(file.parent.name)
        assert match is not None, file
        for check in json.loads(file.read_text()):
            if check["status"] != "INFO":
                found[Check(match["scenario"], check["id"], check["status"])] += 1
    return found


def differences(direct: Report, relayed: Report) -> str:
    """What one run said and the other did not, one a line; empty when they agree."""
    lost, added = direct.checks - relayed.checks, relayed.checks - direct.checks
    lines = [f"direct only:  {number} x {check}" for check, number in lost.items()]
    lines += [f"relayed only: {number} x {check}" for check, number in added.items()]
    return "\n".join(sorted(lines))
