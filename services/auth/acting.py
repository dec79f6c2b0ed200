"""Which sessions may change what outlives them: not one from a link, for tokens not an old one."""

from shared.contracts.identity import Principal, Session, SessionKind
from shared.contracts.problems import Problem, ProblemKind
from shared.stores.sessions import SessionReader

FRESH_SECONDS = 600


def may_change(principal: Principal) -> bool:
    """Whether this session may make and end tokens and sessions."""
    return principal.session_kind is not SessionKind.TOKEN


def require_change(principal: Principal) -> None:
    """Raises FORBIDDEN for a session that looks only: its link may have been in many hands."""
    if not may_change(principal):
        raise Problem(
            ProblemKind.FORBIDDEN,
            "A session from a sign-in link can look, and change nothing.",
            "Sign out, sign in with your account, and try again.",
            "look-only-session",
        )


async def has_ended(sessions: SessionReader, principal: Principal) -> bool:
    """Whether this session ended while it was acting. Asked after something was made: who ends
    all that a person holds ends sessions first and looks for such things then, so that one of the
    two sees the other."""
    return await sessions.find(principal.digest) is None


def ended() -> Problem:
    """What is said then."""
    title = "Your session has ended meanwhile. Nothing was made."
    return Problem(ProblemKind.SIGN_IN_NEEDED, title, "Sign in and try again.", "session-ended")


def is_fresh(session: Session, now: float) -> bool:
    """Whether the person proved who they are within ten minutes, as far as the provider says.

    A cookie that was stolen must not become a token that outlives it.
    """
    proved = session.created if session.auth_time is None else session.auth_time
    return now - proved <= FRESH_SECONDS
