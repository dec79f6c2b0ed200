"""Security headers for every response of ours, set when a response is prepared.

In a middleware they would be missing on answers that aiohttp makes itself (403, 404, 500).
A handler that has set a header keeps it.
"""

from aiohttp import web

from shared.web.routes import Answer, route_of

# every feature that a page could ask for; a page of a server gets none of them
_FEATURES = """
    accelerometer aria-notify autoplay bluetooth browsing-topics camera captured-surface-control
    ch-ua-high-entropy-values clipboard-read clipboard-write compute-pressure
    cross-origin-isolated deferred-fetch deferred-fetch-minimal digital-credentials-create
    digital-credentials-get display-capture encrypted-media fullscreen gamepad geolocation
    gyroscope hid identity-credentials-get idle-detection interest-cohort keyboard-map
    language-detector language-model local-fonts local-network local-network-access
    loopback-network magnetometer media-playback-while-not-visible microphone midi
    on-device-speech-recognition otp-credentials payment picture-in-picture
    private-state-token-issuance private-state-token-redemption publickey-credentials-create
    publickey-credentials-get rewriter screen-wake-lock serial speaker-selection storage-access
    summarizer sync-xhr translator unload usb web-share window-management writer xr-spatial-tracking
"""
PERMISSIONS_POLICY = ", ".join(f"{name}=()" for name in _FEATURES.split())
# our own pages have Copy buttons
_OWN_PERMISSIONS_POLICY = PERMISSIONS_POLICY.replace("clipboard-write=()", "clipboard-write=(self)")

PAGE_CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    " form-action 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none';"
    " require-trusted-types-for 'script'; trusted-types 'none'"
)

_DEFAULTS = {
    "Content-Security-Policy": PAGE_CSP,
    "Permissions-Policy": _OWN_PERMISSIONS_POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Origin-Agent-Cluster": "?1",
    # same-origin, not no-referrer: under no-referrer a form of ours would send `Origin: null`
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cache-Control": "no-store",
}
# what is no document needs no policy for one; a call has many of these answers
_API = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
HSTS = "max-age=31536000; includeSubDomains"


def install(app: web.Application, *, https: bool) -> None:
    """Put the default headers on every response that does not carry its own."""

    always = {"Strict-Transport-Security": HSTS} if https else {}
    api, others = _API | always, _DEFAULTS | always

    async def prepare(request: web.Request, response: web.StreamResponse) -> None:
        route = route_of(request)
        is_api = route is not None and route.answer is Answer.RPC
        response.headers.merge(api if is_api else others)
        response.headers.pop("Server", None)

    app.on_response_prepare.append(prepare)
