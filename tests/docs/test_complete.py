"""Documents that forget fail: every setting, variable, metric, event and reason is explained."""

import ast
import re
import typing
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from pydantic import BaseModel

from services.auth.refusals import Reason as SignInReason
from shared import keys, metrics
from shared.contracts.access import Reason
from shared.contracts.audit import Event, Kept, Logged
from shared.contracts.config import Config, Server
from shared.contracts.limits import LimitRules
from shared.contracts.problems import STATUS
from shared.contracts.wire import Service, Surface

ROOT = Path(__file__).parent.parent.parent
LOG, OPERATING, ARCHITECTURE = (
    (ROOT / "docs" / f"{name}.md").read_text() for name in ("log", "operating", "architecture")
)
# their names are in variables: services/auth/limits.py, services/relay/policy.py, shared/log.py
_BY_VARIABLE = {"address-limit", "client-limit", "tools-left-out", "tools-malformed", "line-lost"}


def section(document: str, title: str) -> str:
    """What stands under a heading of the second level."""
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", document, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def named(text: str) -> set[str]:
    """What stands between backticks."""
    return set(re.findall(r"`([^`\n]+)`", text))


def column(text: str, number: int) -> str:
    """One column of all tables of a text."""
    rows = re.findall(r"^\|(?!--)(.*)\|$", text, re.MULTILINE)
    return " ".join(row.split("|")[number] for row in rows)


def given(module: str, *functions: str) -> Iterator[list[typing.Any]]:
    """The constants that the sources call `module.function` with."""
    for path in chain.from_iterable(ROOT.glob(f"{top}/**/*.py") for top in ("shared", "services")):
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) in {f"{module}.{one}" for one in functions}
                and isinstance(node.args[0], ast.Constant)
            ):
                yield [one.value for one in node.args if isinstance(one, ast.Constant)]


def settings_of(kind: typing.Any) -> Iterator[str]:
    """The names of all settings in a model, those inside included."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            yield name
            yield from settings_of(field.annotation)
    yield from chain.from_iterable(map(settings_of, typing.get_args(kind)))


def test_the_example_shows_every_setting() -> None:
    example = (ROOT / "strad.example.yaml").read_text()
    shown = {*re.findall(r"\b(\w+):", example), *named(example)}
    assert set(settings_of(Config)) - shown == set()


def test_every_limit_stands_in_the_table_with_its_default() -> None:
    rows = re.findall(r"^\| (.*?) \| .* \| (.*) \|$", section(OPERATING, "Limits"), re.MULTILINE)
    told = {name: default for names, default in rows for name in named(names)}
    assert told.pop("at_once") == str(Server.model_fields["at_once"].default)
    assert told.pop("per_minute") == told["limits.server"]
    assert told == {
        f"limits.{name}": f"{field.default:,}" for name, field in LimitRules.model_fields.items()
    }


def test_every_variable_stands_in_the_table_with_its_default() -> None:
    table = section(OPERATING, "Environment")
    read = {name: str(default) for name, default in given("env", "text", "port")}
    assert read.keys() == named(column(table, 0))
    assert set(read.values()) == named(column(table, 2))


def test_the_settings_of_the_containers_stand_in_the_environment_that_is_to_be_copied() -> None:
    compose = (ROOT / "docker-compose.yml").read_text()
    example = (ROOT / ".env.example").read_text()
    read = set(re.findall(r"\$\{(\w+)", compose)) - {"STRAD_PROVIDER_PORT"}  # of the demo alone
    assert read == set(re.findall(r"^(\w+)=", example, re.MULTILINE))


def test_every_metric_is_explained_with_its_labels() -> None:
    table = section(OPERATING, "Metrics")
    families = list(metrics.REGISTRY.collect())
    assert {one for one in named(column(table, 0)) if one.startswith("strad_")} == {
        f"{one.name}_total" if one.type == "counter" else one.name for one in families
    }
    labels = {label for one in vars(metrics).values() for label in getattr(one, "_labels", ())}
    assert labels | {"server"} == named(column(table, 1))


def test_every_event_of_the_log_is_explained() -> None:
    part = section(LOG, "Events that want somebody to look")
    told = named(column(part, 0)) | named(part.rpartition("The others, at level `info`,")[2])
    written = {name for name, *_ in given("log", "event", "warning", "failure")}
    assert told == written | _BY_VARIABLE


def test_every_problem_stands_beside_its_status() -> None:
    rows = re.findall(r"^\| (.*) \| ([\d, ]+) \|$", section(LOG, "Problems"), re.MULTILINE)
    told = {kind: statuses for kinds, statuses in rows for kind in named(kinds)}
    for kind, status in STATUS.items():
        assert str(status) in told[kind], kind


def test_every_reason_has_its_row() -> None:
    told = named(column(section(LOG, "Reasons"), 1))
    assert {*map(str, Reason), *map(str, SignInReason)} - told == set()


def test_every_reason_that_a_client_hears_is_explained() -> None:
    source = "".join(path.read_text() for path in (ROOT / "services" / "relay").rglob("*.py"))
    heard = set(re.findall(r'(?:"reason": |StateRefused\()"([a-z-]+)"', source))
    views = (ROOT / "docs" / "views.md").read_text().replace("reason: ", "")
    assert heard - {"state-missing"} <= named(views)  # that one apphost hears


def test_every_event_and_field_of_the_trail_has_its_row() -> None:
    table = section(OPERATING, "The audit trail")
    fields = {*Kept.__annotations__, *Logged.__annotations__, "running"}
    assert named(column(table, 0)) | {"token"} == fields  # that one is in the row of `session`
    for field, values in (("event", Event), ("surface", Surface)):
        (row,) = (line for line in table.splitlines() if line.startswith(f"| `{field}` |"))
        assert named(row) - {field} == set(values)


def test_every_macro_is_listed_with_its_parameters() -> None:
    table = (ROOT / "shared" / "ui" / "README.md").read_text()
    macros = (ROOT / "shared" / "ui" / "macros.html").read_text()
    for name, parameters in re.findall(r"{% macro (\w+)\((.*?)\) %}", macros):
        plain = ", ".join(one.partition("=")[0].strip() for one in parameters.split(","))
        assert f"{name}({plain})" in table, name


def test_every_family_of_keys_stands_with_its_owner_and_every_channel_by_its_name() -> None:
    rows = {
        service: named(line.split("|")[2])
        for service in Service
        for line in ARCHITECTURE.splitlines()
        if line.startswith(f"| `services/{service}` |")
    }
    owned = {service: set[str]() for service in Service}
    for family in keys.FAMILIES:
        (prefix,) = (one for one in rows[family.owner] if family.prefix.startswith(one))
        owned[family.owner].add(prefix)
    assert owned == rows
    assert {channel.name for channel in keys.CHANNELS} <= named(ARCHITECTURE)
