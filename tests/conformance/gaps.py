"""What a caller of one era does not get from a server of the other through the relay.

The example server has all of it in its own era. A check that is not listed must pass, and one that
is listed must not: whoever closes a gap takes it off the list. Names are `scenario:check`.
"""

# Tools that ask by `input_required`, at a server which is spoken to in 2025-11-25: it has no way to
# ask so there, and what it could ask in the middle of its work no relay can turn into an end of it.
_QUESTIONS_OF_MODERN_TOOLS = {
    "input-required-result-basic-elicitation:sep-2322-elicitation-incomplete",
    "input-required-result-basic-list-roots:sep-2322-list-roots-incomplete",
    "input-required-result-basic-sampling:sep-2322-sampling-incomplete",
    "input-required-result-capability-check:sep-2322-respect-client-capabilities",
    "input-required-result-missing-input-response:sep-2322-missing-response-rerequests",
    "input-required-result-multi-round:sep-2322-multi-round-r1",
    "input-required-result-multiple-input-requests:sep-2322-multiple-inputs-incomplete",
    "input-required-result-non-tool-request:sep-2322-non-tool-incomplete",
    "input-required-result-request-state:sep-2322-request-state-incomplete",
    "input-required-result-result-type:sep-2322-result-type-included",
    "input-required-result-tampered-state:sep-2322-reject-tampered-state",
    "server-stateless:sep-2575-http-server-no-independent-requests-on-stream",
}
# Tools that ask by a request of their own, at a server which is spoken to in 2026-07-28, where none
# exists. (What a tool asks by `input_required` is asked: tests/relay/test_interview.py.)
_QUESTIONS_OF_LEGACY_TOOLS = {
    "elicitation-sep1034-defaults:elicitation-sep1034-general",
    "elicitation-sep1330-enums:elicitation-sep1330-general",
    "tools-call-elicitation:tools-call-elicitation",
    "tools-call-sampling:tools-call-sampling",
}
# The example server tells of changed lists at 2026-07-28 only: to older callers it says nothing.
_CHANGED_LISTS = {
    "server-stateless:sep-2575-server-sends-prompts-list-changed-on-subscription",
    "server-stateless:sep-2575-server-sends-tools-list-changed-on-subscription",
}

# The example server of the SDK before 2026-07-28 has no tool for these scenarios, whoever asks:
# none that asks by `input_required`, none whose arguments stand in headers, none with a schema of
# 2020-12, none that needs a capability.
_NOT_IN_THE_OLDER_EXAMPLE = {
    "http-custom-header-server-validation:sep-2243-server-decode-base64",
    "http-custom-header-server-validation:sep-2243-server-no-xmcp-tool",
    "http-custom-header-server-validation:sep-2243-server-reject-invalid-param-chars",
    "http-custom-header-server-validation:sep-2243-server-reject-param-mismatch",
    "http-custom-header-server-validation:sep-2243-server-validate-param-match",
    "input-required-result-validate-input:sep-2322-error-on-protocol-error",
    "input-required-result-validate-input:sep-2322-validate-input-responses",
    "json-schema-2020-12:json-schema-2020-12-tool-found",
    "server-stateless:sep-2575-missing-capability-http-400",
    "server-stateless:sep-2575-server-rejects-undeclared-capability",
}
# It has no tool either that would ask in its stream, so nothing comes there that should not.
_STREAM_TOOL = {"server-stateless:sep-2575-http-server-no-independent-requests-on-stream"}

MODERN_CALLER = _QUESTIONS_OF_MODERN_TOOLS | _CHANGED_LISTS
LEGACY_CALLER = _QUESTIONS_OF_LEGACY_TOOLS
OLDER_SDK = (MODERN_CALLER - _STREAM_TOOL) | _NOT_IN_THE_OLDER_EXAMPLE
