"""`token list`, `token make`, `token revoke`: a person's access tokens, by an operator."""

from collections.abc import Collection
from datetime import UTC, datetime

from services.auth.operator.desk import OPERATOR, Desk, Unknown, Wrong
from services.auth.token_form import DAY, MAX_TOKENS, label_problem
from services.auth.token_pages import choices
from services.auth.trail import note_done_to
from shared.contracts.audit import Event
from shared.contracts.identity import Person, Token
from shared.ids import new_id


async def show(desk: Desk, email: str) -> str:
    """One line a token: id, name, servers, end. Raises `Unknown`."""
    live = await desk.tokens.of(await desk.subject(email))
    lines = [
        f"{one.id}  {one.label}  {', '.join(one.servers or ('all servers',))}  until {_day(one)}"
        for one in live.values()
    ]
    return "\n".join(lines) or f"{email} has no access tokens."


async def make(
    desk: Desk, email: str, name: str, days: int, servers: Collection[str], *, read_only: bool
) -> str:
    """Make a token and give it, this once. Raises `Unknown` and `Wrong`."""
    person = await desk.people.find(email)
    if person is None:
        raise Unknown(email)
    await _check(desk, person, name, days, servers)
    now = int(desk.clock())
    record = Token(
        id=new_id(),
        person=person,
        label=name,
        servers=tuple(dict.fromkeys(servers)) or None,
        read_only=read_only,
        created=now,
        expires=now + days * DAY,
    )
    await _note(desk, Event.TOKEN_CREATED, person.subject, email, record.id)
    return await desk.tokens.create(record)


async def revoke(desk: Desk, email: str, token_id: str) -> str:
    """End one token of a person. Raises `Unknown` and `Wrong`."""
    subject = await desk.subject(email)
    if all(one.id != token_id for one in (await desk.tokens.of(subject)).values()):
        raise Wrong(f"{email} has no token {token_id}.", "`strad token list` shows their ids")
    await _note(desk, Event.TOKEN_REVOKED, subject, email, token_id)
    await desk.tokens.revoke(subject, token_id)
    return f"Revoked. Its client is refused from the next request on: {token_id}"


async def _check(
    desk: Desk, person: Person, name: str, days: int, servers: Collection[str]
) -> None:
    live = await desk.tokens.of(person.subject)
    if problem := label_problem(name, {one.label for one in live.values()}):
        raise Wrong("This name cannot be used.", problem)
    if len(live) >= MAX_TOKENS:
        raise Wrong(f"{person.email} has {MAX_TOKENS} tokens, which is the most.", "revoke one")
    longest = desk.config.tokens.longest // DAY
    if not 1 <= days <= longest:
        raise Wrong(f"{days} days are not allowed.", f"write 1 to {longest} (tokens.longest)")
    mine = {choice.slug for choice in choices(desk.config, person.email)}
    if unknown := sorted(set(servers) - mine):
        text = f"{person.email} may not use: {', '.join(unknown)}."
        raise Wrong(text, f"choose among: {', '.join(sorted(mine)) or 'none'}")


async def _note(desk: Desk, event: Event, subject: str, email: str, token: str) -> None:
    await note_done_to(desk.trail, event, subject, email, by=OPERATOR, token=token)


def _day(token: Token) -> str:
    return f"{datetime.fromtimestamp(token.expires, UTC):%Y-%m-%d}"
