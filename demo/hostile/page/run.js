"use strict";
/* global room */

/**
 * Shakes hands with the host, makes every attempt once, and shows how each ended. With `?buttons`
 * it leaves all to the buttons.
 */
(() => {
  const { ask, attempts, buttons, post, query, thrown } = room;
  /** @type {{attempt: string, kind: string, outcome: Outcome, detail: string}[]} */
  const results = [];
  /** @type {any} */ (window).results = results;

  const rooms = /** @type {HTMLElement} */ (document.getElementById("rooms"));
  const verdict = /** @type {HTMLElement} */ (document.getElementById("verdict"));
  const last = /** @type {HTMLElement} */ (document.getElementById("buttons"));

  /** @param {string} tag @param {string} text */
  function element(tag, text) {
    const made = document.createElement(tag);
    made.textContent = text;
    return made;
  }

  async function shakeHands() {
    const answer = await ask("ui/initialize", {
      appInfo: { name: "Escape room", version: "1.0.0" },
      appCapabilities: {},
      protocolVersion: "2026-01-26",
    }, 5000);
    const theme = answer?.result?.hostContext?.theme;
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
    post({ jsonrpc: "2.0", method: "ui/notifications/initialized" });
    return answer !== null;
  }

  /** @param {string} kind */
  function section(kind) {
    const list = document.createElement("ul");
    rooms.append(element("h2", kind), list);
    return list;
  }

  /** @param {HTMLElement} list @param {string} kind @param {Attempt} attempt */
  async function make(list, kind, attempt) {
    const row = document.createElement("li");
    const outcome = element("span", "…");
    outcome.className = "outcome";
    row.append(outcome, element("strong", attempt.says));
    row.dataset.attempt = attempt.id;
    list.append(row);
    const end = await Promise.resolve().then(attempt.run).catch(thrown);
    row.dataset.outcome = outcome.textContent = end.outcome;
    row.append(element("code", end.detail));
    results.push({ attempt: attempt.id, kind, ...end });
  }

  /** @param {boolean} hosted */
  function conclude(hosted) {
    /** @param {Outcome} outcome */
    const count = (outcome) => results.filter((result) => result.outcome === outcome).length;
    const [refused, escaped, sent] = [count("refused"), count("ESCAPED"), count("sent")];
    const words = [`${results.length} attempts: ${refused} refused, ${escaped} escaped, ${sent} sent.`];
    words.push(escaped ? "This host does not hold." : "Nothing got out that this page could see.");
    if (!hosted) words.unshift("No host answered; this is what the browser alone refused.");
    verdict.textContent = words.join(" ");
    Object.assign(document.documentElement.dataset, { refused, escaped, sent, done: "true" });
  }

  for (const { id, says, press } of buttons) {
    const button = element("button", says);
    button.id = id;
    button.addEventListener("click", press);
    last.append(button);
  }

  void (async () => {
    const hosted = await shakeHands();
    verdict.textContent = "Trying…";
    for (const [kind, list] of query.has("buttons") ? [] : attempts) {
      const rows = section(kind);
      for (const attempt of list) await make(rows, kind, attempt);
    }
    conclude(hosted);
  })();
})();
