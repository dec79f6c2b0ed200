"""What an operator does on the command line. docs/operating.md says what each command needs."""

import argparse
import json
import os
import shlex
import sys
from pathlib import Path

from cli.audit import ago, audit
from cli.keys import ACL_TEMPLATE, make_keys
from cli.rotation.command import rotate
from shared.contracts.config import Config
from shared.contracts.secrets import secrets_of
from shared.machine_proofs import read_proofs
from shared.settings import Environment, SettingsWrong, read_config


def check(arguments: argparse.Namespace) -> int:
    """Read strad.yaml and every secret it names; print all mistakes, or what it holds."""
    env = Environment()
    config = read_config(env, Path(arguments.config))
    if config is not None:
        for where, ref in secrets_of(config):
            env.secret(ref, where)
        read_proofs(env, config)
    try:
        env.done()
    except SettingsWrong as error:
        print(error, file=sys.stderr)
        return 1
    assert config is not None  # `done` has raised otherwise
    slugs = ", ".join(server.slug for server in config.servers)
    machines = ", ".join(machine.client_id for machine in config.oauth.machines)
    told = f" Machines: {machines}." if machines else ""
    print(f"{arguments.config} is fine. Servers: {slugs or 'none'}.{told}")
    return 0


def schema(_: argparse.Namespace) -> int:
    """Print the JSON Schema of strad.yaml, for editors."""
    print(json.dumps(Config.model_json_schema(), indent=2))
    return 0


def keys(arguments: argparse.Namespace) -> int:
    """Make the services' secrets."""
    for path in make_keys(Path(arguments.out), Path(arguments.acl)):
        print(f"wrote {path}")
    return 0


def refresh(arguments: argparse.Namespace) -> int:
    """Let nothing that is known of entitlements count any longer."""
    try:
        from services.relay.refresh import refresh as tell
    except ModuleNotFoundError:
        return _not_here("relay", "services.relay.refresh [EMAIL]")
    return tell(arguments.email)


def _not_here(service: str, module: str) -> int:
    """The image that makes keys has no services."""
    print(
        f"This is a command of {service}, which is not here.\n"
        f"    fix: docker compose exec {service} python -m {module}",
        file=sys.stderr,
    )
    return 1


_PEOPLE = {
    "people": "let another account have an e-mail address (with auth's keys)",
    "login-link": "a one-time sign-in link that lets a person look (with auth's keys)",
    "token": "list, make and revoke a person's access tokens (with auth's keys)",
    "sessions": "end all that a person holds (with auth's keys)",
}


def main() -> int:
    """Entry point; returns the exit status."""
    if sys.argv[1:] and sys.argv[1] in _PEOPLE:
        try:
            from services.auth.operator.__main__ import main as operate
        except ModuleNotFoundError:
            return _not_here("auth", f"services.auth.operator {shlex.join(sys.argv[1:])}")
        return operate(sys.argv[1:])
    if sys.argv[1:3] == ["keys", "rotate"]:
        return rotate(sys.argv[3:])
    arguments = _parser().parse_args()
    status: int = arguments.run(arguments)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="strad", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = commands.add_parser("check", help="check strad.yaml and the secrets it names")
    one.add_argument(
        "config",
        nargs="?",
        default=os.environ.get("STRAD_CONFIG", "strad.yaml"),
        metavar="FILE",
        help="left out: STRAD_CONFIG, or strad.yaml",
    )
    one.set_defaults(run=check)
    one = commands.add_parser("schema", help="print the JSON Schema of strad.yaml")
    one.set_defaults(run=schema)
    one = commands.add_parser(
        "keys", help="make the services' secrets in a folder; `keys rotate`: replace them"
    )
    one.add_argument("out", metavar="FOLDER", help="what is there already stays")
    one.add_argument("--acl", default=str(ACL_TEMPLATE), help="template of the Redis ACL file")
    one.set_defaults(run=keys)
    one = commands.add_parser("audit", help="print the audit trail, one JSON object a line")
    one.add_argument(
        "--since", type=ago, default="24h", metavar="AGO", help="such as 90m or 7d; 24h if left out"
    )
    one.add_argument("--person", metavar="WHO", help="an e-mail address, or a subject")
    one.add_argument("--server", metavar="SLUG", help="of one server")
    one.set_defaults(run=audit)
    one = commands.add_parser("refresh", help="ask anew who may use what (with the relay's keys)")
    one.add_argument("email", nargs="?", help="one person; everybody if left out")
    one.set_defaults(run=refresh)
    for name, does in _PEOPLE.items():
        commands.add_parser(name, help=does)
    return parser


if __name__ == "__main__":
    sys.exit(main())
