// Links of a page. The person sees the whole address and opens it with a press of their own; the
// page itself cannot open anything.

import { INVALID_PARAMS, REFUSED, Refusal } from "./rpc.js";
import { arm, element, focusPage } from "./stage.js";

const MAX_LINK = 2048;

/**
 * The address that may be offered. Throws `Refusal` for anything but http and https, and for the
 * console itself: opened from here it would arrive as our own link and skip the question that a
 * foreign link gets.
 *
 * @param {unknown} text @param {{ host: string }} here @returns {URL}
 */
export function checkLink(text, here) {
  const url = typeof text === "string" && text.length <= MAX_LINK ? URL.parse(text) : null;
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new Refusal(INVALID_PARAMS, "Only whole http and https addresses can be opened.");
  }
  if (url.username || url.password) {
    throw new Refusal(INVALID_PARAMS, "An address with a user name in it is not opened.");
  }
  if (url.host === here.host) {
    throw new Refusal(REFUSED, "A page cannot open the console.");
  }
  return url;
}

/** The strip under the bar that shows an address and asks. One question at a time. */
export class LinkStrip {
  #strip = element("link");
  #open = /** @type {HTMLButtonElement} */ (element("link-open"));
  /** @type {((opened: boolean) => void) | null} */
  #settle = null;
  /** @type {URL | null} */
  #url = null;

  constructor() {
    this.#open.addEventListener("click", () => {
      if (this.#url) window.open(this.#url.href, "_blank", "noopener,noreferrer");
      this.#end(true);
    });
    element("link-cancel").addEventListener("click", () => this.#end(false));
    this.#strip.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.#end(false);
    });
  }

  /** @param {unknown} text @returns {Promise<boolean>} whether it was opened */
  ask(text) {
    const url = checkLink(text, location);
    if (this.#settle) throw new Refusal(REFUSED, "Another address is being asked about.");
    if (!navigator.userActivation.isActive) {
      throw new Refusal(REFUSED, "An address is opened on a person's click only.");
    }
    this.#url = url;
    element("link-host").textContent = url.host;
    element("link-address").textContent = url.href;
    this.#strip.hidden = false;
    arm(this.#open);
    this.#strip.focus();
    return new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  close() {
    this.#end(false);
  }

  /** @param {boolean} opened */
  #end(opened) {
    if (this.#strip.contains(document.activeElement)) focusPage();
    this.#strip.hidden = true;
    this.#settle?.(opened);
    this.#settle = null;
    this.#url = null;
  }
}
