"""`python -m services.auth.operator`: the commands of `strad` that are about people.

For auth's own container, or with auth's folder of keys: they speak to Redis as auth does.
"""

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence

from pydantic import TypeAdapter, ValidationError

from services.auth.operator import links, people, tokens
from services.auth.operator.desk import Desk, Unknown, Wrong, opened
from shared.contracts.fields import Email
from shared.settings import Environment, SettingsWrong
from shared.stores.kv import StoreUnavailable

Run = Callable[[Desk, argparse.Namespace], Awaitable[str]]
_EMAIL: TypeAdapter[str] = TypeAdapter(Email)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    asked = _parser().parse_args(arguments)
    try:
        print(asyncio.run(_run(asked)))
    except SettingsWrong as error:
        print(error, file=sys.stderr)
    except StoreUnavailable as error:
        fix = "check STRAD_REDIS, and that STRAD_KEYS names the folder `auth`"
        print(f"Redis does not take it: {error}\n    fix: {fix}", file=sys.stderr)
    except Unknown as error:
        print(f"{error}\n    fix: check the address", file=sys.stderr)
    except Wrong as error:
        print(f"{error}\n    fix: {error.fix}", file=sys.stderr)
    else:
        return 0
    return 1


async def _run(asked: argparse.Namespace) -> str:
    run: Run = asked.run
    async with opened(Environment()) as desk:
        return await run(desk, asked)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="strad")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    one = _verb(commands, "people", "unbind", "let another account have an e-mail address")
    one.add_argument("email", type=_email)
    one.set_defaults(run=lambda desk, asked: people.unbind(desk, asked.email))
    one = _verb(commands, "sessions", "end", "end a person's sessions, access tokens and clients")
    one.add_argument("email", type=_email)
    one.set_defaults(run=lambda desk, asked: people.end(desk, asked.email))
    one = commands.add_parser("login-link", help="a one-time link that lets a person look")
    one.add_argument("email", type=_email)
    one.add_argument("--to", default="/", metavar="PATH", help="where it leads, such as /apps/wiki")
    one.set_defaults(run=lambda desk, asked: links.make(desk, asked.email, asked.to))
    _token_commands(commands)
    return parser


def _token_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    verbs = commands.add_parser("token", help="a person's access tokens")
    verb = verbs.add_subparsers(required=True, metavar="VERB")
    one = verb.add_parser("list", help="ids, names, servers, ends")
    one.add_argument("email", type=_email)
    one.set_defaults(run=lambda desk, asked: tokens.show(desk, asked.email))
    one = verb.add_parser("make", help="make one and print it, this once")
    one.add_argument("email", type=_email)
    one.add_argument("--name", required=True, help="such as the client and the machine")
    one.add_argument("--days", type=int, default=30, help="until it ends; 30 if left out")
    one.add_argument("--server", action="append", default=[], metavar="SLUG", help="only this one")
    one.add_argument("--read-only", action="store_true", help="only tools that read")
    one.set_defaults(
        run=lambda desk, asked: tokens.make(
            desk, asked.email, asked.name, asked.days, asked.server, read_only=asked.read_only
        )
    )
    one = verb.add_parser("revoke", help="end one")
    one.add_argument("email", type=_email)
    one.add_argument("id")
    one.set_defaults(run=lambda desk, asked: tokens.revoke(desk, asked.email, asked.id))


def _verb(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]", noun: str, verb: str, does: str
) -> argparse.ArgumentParser:
    verbs = commands.add_parser(noun, help=does).add_subparsers(required=True, metavar="VERB")
    return verbs.add_parser(verb, help=does)


def _email(text: str) -> str:
    try:
        return _EMAIL.validate_python(text)
    except ValidationError as error:
        raise argparse.ArgumentTypeError("write one e-mail address") from error


if __name__ == "__main__":
    sys.exit(main())
