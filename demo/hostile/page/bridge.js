"use strict";

/**
 * What every attempt uses: the bridge to the host (JSON-RPC 2.0 over postMessage, as MCP Apps
 * 2026-01-26 has it), the list of attempts, and a few ways to wait.
 *
 * @typedef {"refused" | "ESCAPED" | "sent"} Outcome
 * @typedef {{outcome: Outcome, detail: string}} End
 * @typedef {{id: string, says: string, run: () => End | Promise<End>}} Attempt
 * @typedef {{jsonrpc?: string, id?: unknown, method?: string, result?: any, error?: any}} Message
 */
// eslint-disable-next-line no-unused-vars -- the scripts after this one use it
const room = (() => {
  const PATIENCE = 1500;
  let next = 1;
  /** @type {Map<unknown, (answer: Message) => void>} */
  const waiting = new Map();
  /** @type {Map<string, Attempt[]>} */
  const attempts = new Map();
  /** @type {{id: string, says: string, press: (event: Event) => void}[]} */
  const buttons = [];

  const query = new URLSearchParams(location.search);
  /** Where nothing must ever arrive: a listener of the tests, or a closed port. */
  const sink = query.get("sink") ?? "http://127.0.0.1:9";
  /** The console's address. `location` tells it even to a document with an opaque origin. */
  const home = location.origin === "null" ? document.referrer || sink : location.origin;

  addEventListener("message", ({ source, data }) => {
    if (source !== parent || data?.jsonrpc !== "2.0") return;
    const answered = waiting.get(data.id);
    if (data.method === undefined && answered) answered(data);
    else if (data.method !== undefined && data.id !== undefined) {
      post({ jsonrpc: "2.0", id: data.id, result: {} });
    }
  });

  /** Any message at all to the host. @param {unknown} message */
  function post(message) {
    parent.postMessage(message, "*");
  }

  /**
   * One request to the host, and its whole answer; null when none comes in time.
   * @param {string} method
   * @param {unknown} params
   * @param {number} [patience] milliseconds
   * @returns {Promise<Message | null>}
   */
  function ask(method, params, patience = PATIENCE) {
    const id = `room-${next++}`;
    const answer = new Promise((resolve) => {
      waiting.set(id, resolve);
      setTimeout(() => resolve(null), patience);
    });
    post({ jsonrpc: "2.0", id, method, params });
    return answer.finally(() => waiting.delete(id));
  }

  /** @param {string} detail @returns {End} */
  const refused = (detail) => ({ outcome: "refused", detail });
  /** @param {string} detail @returns {End} */
  const escaped = (detail) => ({ outcome: "ESCAPED", detail });
  /** @param {string} [detail] @returns {End} */
  const sent = (detail = "the host's tests look") => ({ outcome: "sent", detail });

  /** @param {unknown} error @returns {End} */
  function thrown(error) {
    return refused(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
  }

  /**
   * What the host said to a request that it must not grant.
   * @param {Message | null} answer
   * @returns {End}
   */
  function judged(answer) {
    if (answer === null) return refused("no answer");
    if (answer.error) return refused(`error ${answer.error.code}: ${answer.error.message}`);
    if (answer.result?.isError) return refused(`isError: ${short(answer.result.content?.[0]?.text)}`);
    return escaped(short(JSON.stringify(answer.result)));
  }

  /** Some things have no text, and that must not look like a refusal. @param {unknown} thing */
  function short(thing) {
    try {
      return String(thing ?? "").slice(0, 160);
    } catch {
      return typeof thing;
    }
  }

  /**
   * Makes noise towards an address and listens for the browser's own report that a policy stopped
   * it. Without that report a failure proves nothing: the address may just be closed, or the
   * answer hidden after the request went out.
   * @param {string} address what the report will name; each attempt has its own
   * @param {(escape: (detail: unknown) => void) => unknown} noise
   * @param {number} [patience] milliseconds
   * @returns {Promise<End>}
   */
  function watched(address, noise, patience = 700) {
    return new Promise((resolve) => {
      /** @param {SecurityPolicyViolationEvent} event */
      const stopped = ({ blockedURI, effectiveDirective }) => {
        if (names(blockedURI, address)) done(refused(`blocked by ${effectiveDirective}`));
      };
      let failure = "";
      const timer = setTimeout(() => done(sent(failure ? `${failure}; the host's tests look` : undefined)), patience);
      /** @param {End} end */
      const done = (end) => {
        removeEventListener("securitypolicyviolation", stopped);
        clearTimeout(timer);
        resolve(end);
      };
      addEventListener("securitypolicyviolation", stopped);
      Promise.resolve()
        .then(() => noise((detail) => done(escaped(short(detail)))))
        .catch((error) => (failure = short(error)));
    });
  }

  /** A report names the whole address, or only its origin. @param {string} blocked @param {string} address */
  function names(blocked, address) {
    return blocked === address || (/^\w+:\/\/[^/]+\/?$/.test(blocked) && address.startsWith(blocked));
  }

  /** @param {number} time milliseconds @returns {Promise<void>} */
  const pause = (time) => new Promise((resolve) => void setTimeout(resolve, time));

  /**
   * Adds an attempt to a kind. `says` is what the table shows.
   * @param {string} kind
   * @param {string} id
   * @param {string} says
   * @param {() => End | Promise<End>} run
   */
  function attempt(kind, id, says, run) {
    attempts.set(kind, [...(attempts.get(kind) ?? []), { id, says, run }]);
  }

  /**
   * Adds an attempt that waits for a click.
   * @param {string} id
   * @param {string} says
   * @param {(event: Event) => void} press
   */
  function onClick(id, says, press) {
    buttons.push({ id, says, press });
  }

  return {
    ...{ attempt, attempts, onClick, buttons, ask, post, judged, watched, pause, short },
    ...{ refused, escaped, sent, thrown, sink, home, query },
  };
})();
