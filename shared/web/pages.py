"""Pages: the page of a problem, and the files of `shared.ui` that pages link to."""

from collections.abc import Mapping

from aiohttp import web
from jinja2 import Environment

from shared import ui
from shared.contracts.problems import Problem
from shared.web.problems import Render
from shared.web.routes import PRINCIPAL, REQUEST_ID, Access, Answer, Route

# an address with the right `?v=` names these very bytes for ever
_FOR_EVER = "public, max-age=31536000, immutable"


def html(
    request: web.Request,
    environment: Environment,
    template: str,
    *,
    status: int = 200,
    **context: object,
) -> web.Response:
    """A page of ours. The template also gets `status`, and `person` of an identified request."""
    principal = request.get(PRINCIPAL)
    context.setdefault("person", principal.person if principal is not None else None)
    text = environment.get_template(template).render(status=status, **context)
    return web.Response(text=text, status=status, content_type="text/html")


def page_renderer(
    environment: Environment, own: Mapping[type[Problem], str] | None = None
) -> Render:
    """Draws a problem as a page, for `shared.web.problems.renderer(page=…)`.

    `own`: templates for problem types of a service, which read more from `problem`; every other
    one is drawn with `problem.html`.
    """
    templates = own or {}

    async def render(request: web.Request, problem: Problem) -> web.Response:
        return html(
            request,
            environment,
            templates.get(type(problem), "problem.html"),
            status=problem.status,
            title=problem.title,
            advice=problem.advice,
            request_id=request[REQUEST_ID],
            problem=problem,
        )

    return render


def static_routes(base: str) -> list[Route]:
    """Routes that answer `ui.static_files()` under `base`, the `static_base` of the environment."""

    async def answer(request: web.Request) -> web.Response:
        file = ui.static_files().get(request.match_info["name"])
        if file is None:
            raise web.HTTPNotFound
        response = web.Response(body=file.body)
        response.headers["Content-Type"] = file.content_type
        if request.query.getall("v", []) == [file.version]:
            response.headers["Cache-Control"] = _FOR_EVER
        return response

    return [Route("GET", f"{base}/{{name}}", answer, Access.PUBLIC, Answer.JSON)]
