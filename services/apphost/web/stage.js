// Everything the host itself shows: the state in the bar, notices over the frame, the last words
// when a page is closed. Text is always text: no markup is ever made from a string.

/** @param {string} id @returns {HTMLElement} */
export function element(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** @template {keyof HTMLElementTagNameMap} K @param {K} tag @param {string} text @param {string} [className] */
export function make(tag, text, className = "") {
  return Object.assign(document.createElement(tag), { textContent: text, className });
}

// A page can take the keyboard at any time. Keys that reach a Yes of ours just as the keyboard comes
// back were meant for the page; a pointer's press (detail > 0) is always the person's own, a script's
// click never.
let returned = -Infinity;
addEventListener("focus", () => void (returned = performance.now()));
addEventListener("click", (event) => {
  const yes = event.target instanceof Element && event.target.closest("button.button-primary");
  if (!yes || (event.isTrusted && (event.detail > 0 || performance.now() - returned > 500))) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

/** @param {"ready" | "quiet" | "warn" | "down" | "blocked" | "loading"} kind @param {string} label */
export function mark(kind, label) {
  Object.assign(element("state"), { className: `state state-${kind}`, textContent: label });
}

/** @param {HTMLElement} part @param {() => void} act on Escape pressed in it */
export function onEscape(part, act) {
  part.addEventListener("keydown", ({ key }) => void (key === "Escape" && act()));
}

/** @param {boolean} busy */
export function setBusy(busy) { element("main").classList.toggle("is-busy", busy); }

/**
 * Say something over the frame, with a button that takes it away again. One notice of a name at a time.
 *
 * @param {string} name
 * @param {"info" | "warn" | "error"} kind
 * @param {string} title
 * @param {string} text
 * @param {HTMLElement[]} [more] further elements, such as a button
 */
export function say(name, kind, title, text, more = []) {
  unsay(name);
  const notice = make("div", "", `notice notice-${kind}`);
  notice.dataset.name = name;
  notice.setAttribute("role", kind === "error" ? "alert" : "status");
  const row = make("div", "", "actions");
  row.append(...more, makeButton("Dismiss", () => notice.remove(), "button-quiet"));
  notice.append(make("p", title, "notice-title"), make("p", text, "notice-text"), row);
  element("notices").append(notice);
}

/** @param {string} name */
export const unsay = (name) => document.querySelector(`#notices > [data-name="${name}"]`)?.remove();

/** @param {string} label @param {() => void} press @param {string} [kind] */
export function makeButton(label, press, kind = "") {
  const button = make("button", label, `button button-small ${kind}`);
  return Object.assign(button, { type: "button", onclick: press });
}

/** Give the keyboard back to the page. */
export function focusPage() { document.querySelector("iframe")?.focus(); }

/** The page is gone: say why, in its place. @param {string} title @param {string} text */
export function showClosed(title, text) {
  element("closed-title").textContent = title;
  element("closed-text").textContent = text;
  for (const id of ["run", "ask", "run-again"]) element(id).hidden = true;
  element("notices").replaceChildren();
  element("closed").hidden = false;
  element("closed-title").focus();
  setBusy(false);
  mark("blocked", "Closed");
}

/**
 * The text that a tool's result holds, for when no page shows it.
 *
 * @param {import("./types.d.ts").CallToolResult} result
 */
export function textOf(result) {
  const blocks = Array.isArray(result.content) ? result.content : [];
  const texts = blocks.flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? [block.text] : []));
  const none = blocks.length > 0 ? "The result holds no text." : "Empty result.";
  return texts.join("\n\n") || JSON.stringify(result.structuredContent ?? undefined, null, 2) || none;
}
