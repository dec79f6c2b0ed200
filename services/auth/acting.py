"""What a session from a sign-in link may not do: change anything that outlives it."""

from shared.contracts.identity import Principal, SessionKind
from shared.contracts.problems import Problem, ProblemKind


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
