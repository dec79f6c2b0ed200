"""The provider's pages. Every value goes through `escape`; there is no script on them."""

from html import escape
from pathlib import Path
from string import Template

from aiohttp import web
from multidict import MultiMapping

from demo.provider.people import Person
from demo.provider.settings import Settings

PAGE = Template((Path(__file__).parent / "page.html").read_text(encoding="utf-8"))


def choice(settings: Settings, raw_query: str, query: MultiMapping[str]) -> web.Response:
    """The people as buttons. The form's address repeats the request that it answers."""
    hint = query.get("login_hint", "").casefold()
    buttons = "\n".join(
        _person(person, hinted=person.email.casefold() == hint) for person in settings.people
    )
    return _page(
        "Choose a demo account",
        f"""<h1>Choose a demo account</h1>
<p class="lead">to continue to <b>{escape(settings.redirect_origin)}</b></p>
<form method="post" action="/authorize?{escape(raw_query)}">
<ul>
{buttons}
</ul>
<button class="cancel" name="cancel" value="1">Cancel</button>
</form>""",
    )


def front(settings: Settings) -> web.Response:
    """What a person sees who opens the provider's own address."""
    names = "".join(
        f"<li><span class='row'>{_card(person)}</span></li>" for person in settings.people
    )
    return _page(
        "Demo sign-in",
        f"""<h1>Demo sign-in</h1>
<p class="lead">An OpenID provider for trying things out. Start at
<b>{escape(settings.redirect_origin)}</b>; it leads here when it is time to sign in.</p>
<ul>{names}</ul>""",
    )


def problem(settings: Settings, error: web.HTTPException) -> web.Response:
    """A refusal that cannot be sent back to a client."""
    return _page(
        "Sign-in stopped",
        f"""<h1>Sign-in stopped</h1>
<p class="lead">{escape(error.text or error.reason)}</p>
<p class="lead"><a href="{escape(settings.redirect_origin)}">Back to the start</a></p>""",
        status=error.status,
    )


def _person(person: Person, *, hinted: bool) -> str:
    autofocus = " autofocus" if hinted else ""
    return (
        f'<li><button class="row" name="person" value="{escape(person.sub)}"{autofocus}>'
        f"{_card(person)}</button></li>"
    )


def _card(person: Person) -> str:
    return (
        f'<span class="avatar" aria-hidden="true">{escape(person.initials)}</span>'
        f'<span class="who"><b>{escape(person.name)}</b><span>{escape(person.email)}</span></span>'
        f'<span class="locale">{escape(person.locale)}</span>'
    )


def _page(title: str, main: str, *, status: int = 200) -> web.Response:
    text = PAGE.substitute(title=escape(title), main=main)
    return web.Response(text=text, status=status, content_type="text/html")
