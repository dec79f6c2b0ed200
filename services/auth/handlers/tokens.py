"""/auth/tokens: a person's access tokens. List, create, revoke.

A new token is shown in the answer to its form and never again. Loading that answer once more does
not make a second token: the name is taken by then.
"""

from aiohttp import web

from services.auth import links, token_form
from services.auth.acting import ended, has_ended, is_fresh, may_change, require_change
from services.auth.parts import PARTS, Parts
from services.auth.token_pages import Choice, choices, client_configuration, row
from services.auth.trail import note
from shared import keys, log
from shared.contracts.audit import Event
from shared.contracts.identity import Principal, Token
from shared.contracts.problems import Problem, ProblemKind
from shared.contracts.wire import TOKENS_PATH
from shared.ids import new_id
from shared.web import body
from shared.web.origin import require_form
from shared.web.pages import html
from shared.web.routes import PRINCIPAL, SESSION


async def show(request: web.Request) -> web.Response:
    """GET: the list and an empty form."""
    parts = request.app[PARTS]
    form = token_form.blank(parts.config.tokens.longest)
    return await _page(request, parts, form, revoked="revoked" in request.query)


async def create(request: web.Request) -> web.Response:
    """POST: make a token and show it once, or show the form again with what is wrong in it."""
    parts, principal = request.app[PARTS], request[PRINCIPAL]
    require_change(principal)
    require_form(request)
    if not is_fresh(request[SESSION], parts.clock()):
        form = token_form.blank(parts.config.tokens.longest)
        return await _page(request, parts, form, status=403)
    await body.read(request)
    mine = choices(parts.config, principal.person.email)
    live = await parts.tokens.of(principal.subject)
    form = token_form.read(
        await request.post(),
        longest=parts.config.tokens.longest,
        servers=[choice.slug for choice in mine],
        labels={token.label for token in live.values()},
    )
    if form.errors:
        return await _page(request, parts, form, status=422)
    await parts.limits.token(principal.subject)
    now = int(parts.clock())
    record = Token(
        id=new_id(),
        person=principal.person,
        label=form.label,
        servers=form.servers or None,
        read_only=form.read_only,
        created=now,
        expires=now + form.life,
    )
    await _note(parts, Event.TOKEN_CREATED, principal, record.id)
    text = await parts.tokens.create(record)
    if await has_ended(parts.sessions, principal):
        await parts.tokens.revoke(principal.subject, record.id)
        raise ended()
    log.event("token-created", subject=principal.subject, token=record.id)
    return html(
        request,
        parts.pages,
        "token_created.html",
        label=form.label,
        token=text,
        configuration=client_configuration(parts.config, text, form.servers),
        here="tokens",
    )


async def revoke(request: web.Request) -> web.Response:
    """POST: end a token of one's own. Somebody else's is as unknown as one that never was."""
    parts, principal = request.app[PARTS], request[PRINCIPAL]
    require_change(principal)
    token_id = request.match_info["id"]
    mine = await parts.tokens.of(principal.subject)
    if any(token.id == token_id for token in mine.values()):
        await _note(parts, Event.TOKEN_REVOKED, principal, token_id)
    if not await parts.tokens.revoke(principal.subject, token_id):
        raise Problem(
            ProblemKind.NOT_FOUND,
            "You have no such token.",
            "Perhaps it has ended or was revoked already: look at the list of your tokens.",
        )
    log.event("token-revoked", subject=principal.subject, token=token_id)
    return web.Response(status=303, headers={"Location": f"{TOKENS_PATH}?revoked"})


async def _note(parts: Parts, event: Event, principal: Principal, token_id: str) -> None:
    await note(parts.trail, event, principal.person, digest=principal.digest, token=token_id)


async def _page(
    request: web.Request,
    parts: Parts,
    form: token_form.TokenForm,
    *,
    status: int = 200,
    revoked: bool = False,
) -> web.Response:
    principal = request[PRINCIPAL]
    mine: list[Choice] = choices(parts.config, principal.person.email)
    names = {choice.slug: choice.name for choice in mine}
    live = await parts.tokens.of(principal.subject)
    seen = await parts.store.get_many([keys.TOKEN_SEEN.key(digest) for digest in live])
    uses = await parts.tokens.uses(live)
    now = parts.clock()
    rows = [
        row(token, used, uses.get(digest), names, now)
        for (digest, token), used in zip(live.items(), seen, strict=True)
    ]
    return html(
        request,
        parts.pages,
        "tokens.html",
        status=status,
        form=form,
        lifetimes=token_form.lifetimes(parts.config.tokens.longest),
        servers=mine,
        tokens=rows,
        revoked=revoked,
        may_change=may_change(principal),
        fresh=is_fresh(request[SESSION], now),
        sign_in=links.start(TOKENS_PATH, trusted=True, fresh=True),
        here="tokens",
    )
