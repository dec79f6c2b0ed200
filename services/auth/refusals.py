"""Every reason for which a sign-in fails, and what the person reads then.

Domain code raises `Refused`; the handler that knows the way back turns it into the problem.
"""

from dataclasses import dataclass
from enum import StrEnum

from shared.contracts.identity import Person
from shared.contracts.problems import Problem, ProblemKind


class Reason(StrEnum):
    """The name of a refusal: in the log, and on the page for whoever has to mend it."""

    COOKIE_MISSING = "cookie-missing"
    ALREADY_USED = "already-used"
    STATE_MISMATCH = "state-mismatch"
    CANCELLED = "cancelled"
    PROVIDER_SAID_NO = "provider-said-no"
    ANSWER_ISSUER = "answer-issuer"
    CODE_MISSING = "code-missing"
    CODE_REFUSED = "code-refused"
    CLIENT_REFUSED = "client-refused"
    PROVIDER_DOWN = "provider-down"
    PROVIDER_UNUSABLE = "provider-unusable"
    TOKEN_MALFORMED = "token-malformed"  # noqa: S105
    TOKEN_ALGORITHM = "token-algorithm"  # noqa: S105
    TOKEN_KEY = "token-key"  # noqa: S105
    TOKEN_SIGNATURE = "token-signature"  # noqa: S105
    TOKEN_ISSUER = "token-issuer"  # noqa: S105
    TOKEN_AUDIENCE = "token-audience"  # noqa: S105
    TOKEN_EXPIRED = "token-expired"  # noqa: S105
    TOKEN_FROM_THE_FUTURE = "token-from-the-future"  # noqa: S105
    TOKEN_LIFETIME = "token-lifetime"  # noqa: S105
    TOKEN_NONCE = "token-nonce"  # noqa: S105
    TOKEN_AT_HASH = "token-at-hash"  # noqa: S105
    EMAIL_MISSING = "email-missing"
    EMAIL_UNVERIFIED = "email-unverified"
    EMAIL_MALFORMED = "email-malformed"
    NOT_ALLOWED = "not-allowed"
    BOUND_ELSEWHERE = "bound-elsewhere"
    LINK_MISSING = "link-missing"
    LINK_UNUSABLE = "link-unusable"


class Refused(Exception):
    """A check failed. `detail` is for the log: no secret and nothing that a stranger chose.

    `person`: who it is, where the provider has proved it and a rule of ours said no.
    """

    def __init__(self, reason: Reason, detail: str = "", person: Person | None = None) -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.person = person
        self.reason = reason
        self.detail = detail


@dataclass
class SignInFailed(Problem):
    """A failed sign-in as a page: `again` starts it anew, `other_account` lets one choose."""

    again: str = ""
    other_account: str = ""


_FAILED = ProblemKind.SIGN_IN_FAILED
_NOT_ALLOWED = ProblemKind.NOT_ALLOWED_HERE
_PROVIDER = ProblemKind.PROVIDER_UNAVAILABLE

_START_AGAIN = "You are not signed in. Start again; that takes a moment only."
_TELL = "You are not signed in. Start again; if it fails again, tell an administrator of strad."
_DISTRUST = (
    "Its answer was not accepted, and you are not signed in. Start again; if it fails again, tell"
    " an administrator of strad."
)
_CLOCK = (
    "You are not signed in. The clock of the provider and the clock of the machine that runs strad"
    " differ by more than a minute: an administrator can set the clock right."
)
_OTHER = "Sign in with another account, or ask an administrator of strad to let this one in."

TEXTS: dict[Reason, tuple[ProblemKind, str, str]] = {
    Reason.COOKIE_MISSING: (
        _FAILED,
        "This sign-in did not begin in this browser, or took too long.",
        "A sign-in has ten minutes, and needs cookies. Start again in this browser.",
    ),
    Reason.ALREADY_USED: (
        _FAILED,
        "This sign-in was used already.",
        "Each one works once. If you are signed in, go on to the console; if not, start again.",
    ),
    Reason.STATE_MISMATCH: (
        _FAILED,
        "This answer belongs to another sign-in.",
        "Perhaps two were open at once. Start again, and finish the newest one.",
    ),
    Reason.CANCELLED: (
        _FAILED,
        "You cancelled the sign-in.",
        "Nothing has happened. You can start again whenever you like.",
    ),
    Reason.PROVIDER_SAID_NO: (_FAILED, "The sign-in provider refused the sign-in.", _TELL),
    Reason.ANSWER_ISSUER: (_FAILED, "The answer came from another sign-in provider.", _DISTRUST),
    Reason.CODE_MISSING: (_FAILED, "The sign-in provider's answer was incomplete.", _START_AGAIN),
    Reason.CODE_REFUSED: (
        _FAILED,
        "The sign-in provider no longer accepts this sign-in.",
        _START_AGAIN,
    ),
    Reason.CLIENT_REFUSED: (
        _PROVIDER,
        "The sign-in provider does not know this installation.",
        "Nobody can sign in. An administrator has to correct `client_id` or the client secret.",
    ),
    Reason.PROVIDER_DOWN: (
        _PROVIDER,
        "The sign-in provider does not answer.",
        "People who are signed in already stay signed in. Try again in a moment.",
    ),
    Reason.PROVIDER_UNUSABLE: (
        _PROVIDER,
        "The sign-in provider describes itself in a way that strad does not accept.",
        "Nobody can sign in. An administrator has to correct `provider.issuer`; the log says more.",
    ),
    Reason.TOKEN_MALFORMED: (_FAILED, "The provider's ID token is malformed.", _DISTRUST),
    Reason.TOKEN_ALGORITHM: (
        _FAILED,
        "The provider's ID token is signed in a way that is not accepted.",
        _DISTRUST,
    ),
    Reason.TOKEN_KEY: (
        _FAILED,
        "The provider's ID token is signed with a key that it does not publish.",
        "You are not signed in. A provider that has just changed its keys is accepted within a"
        " minute: try again then.",
    ),
    Reason.TOKEN_SIGNATURE: (
        _FAILED,
        "The signature of the provider's ID token is wrong.",
        _DISTRUST,
    ),
    Reason.TOKEN_ISSUER: (
        _FAILED,
        "The ID token was issued by another provider.",
        _DISTRUST,
    ),
    Reason.TOKEN_AUDIENCE: (_FAILED, "The ID token was issued for another application.", _DISTRUST),
    Reason.TOKEN_EXPIRED: (_FAILED, "The provider's ID token is too old.", _CLOCK),
    Reason.TOKEN_FROM_THE_FUTURE: (
        _FAILED,
        "The provider's ID token comes from the future.",
        _CLOCK,
    ),
    Reason.TOKEN_LIFETIME: (
        _FAILED,
        "The provider's ID token would be good for more than a day.",
        _DISTRUST,
    ),
    Reason.TOKEN_NONCE: (_FAILED, "The ID token belongs to another sign-in.", _DISTRUST),
    Reason.TOKEN_AT_HASH: (
        _FAILED,
        "The ID token and the access token do not belong together.",
        _DISTRUST,
    ),
    Reason.EMAIL_MISSING: (
        _NOT_ALLOWED,
        "This account has no e-mail address that strad may see.",
        _OTHER,
    ),
    Reason.EMAIL_UNVERIFIED: (
        _NOT_ALLOWED,
        "The e-mail address of this account is not verified.",
        "Verify it at the sign-in provider and start again, or sign in with another account.",
    ),
    Reason.EMAIL_MALFORMED: (
        _NOT_ALLOWED,
        "The e-mail address of this account is not one that strad accepts.",
        _OTHER,
    ),
    Reason.NOT_ALLOWED: (_NOT_ALLOWED, "This account may not sign in here.", _OTHER),
    Reason.LINK_MISSING: (
        _FAILED,
        "There is no sign-in link in this browser.",
        "Open the whole link once more, in this browser; it needs cookies. Or sign in with your"
        " account.",
    ),
    Reason.LINK_UNUSABLE: (
        _FAILED,
        "This sign-in link does not work any more.",
        "Each works once, within ten minutes, in the browser that opened it. Ask for a new one, or"
        " sign in with your account.",
    ),
    Reason.BOUND_ELSEWHERE: (
        _NOT_ALLOWED,
        "This e-mail address belongs to another account.",
        "Another account signed in with it before. If the address is yours now, ask an operator of"
        " strad to unbind it; or sign in with another account.",
    ),
}


def problem(refused: Refused, again: str, other_account: str) -> SignInFailed:
    """The page of a refusal. `other_account` is offered where another one could help."""
    kind, title, advice = TEXTS[refused.reason]
    return SignInFailed(
        kind,
        title,
        advice,
        refused.reason,
        again=again,
        other_account=other_account if kind is _NOT_ALLOWED else "",
    )
