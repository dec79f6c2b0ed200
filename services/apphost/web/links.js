// Links of a page. The person sees the whole address and opens it with a press of their own; the
// page itself cannot open anything.

import { INVALID_PARAMS, REFUSED, Refusal } from "./rpc.js";

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

/**
 * Ask about an address and open it. Answers as `ui/open-link` does.
 *
 * @param {import("./strip.js").Strip} strip @param {unknown} text
 */
export async function offerLink(strip, text) {
  const { host, href } = checkLink(text, location);
  const words = { lead: "This page wants to open ", what: host, tail: " in a new tab", press: "Open" };
  return strip.offer({ ...words, all: href }, () => window.open(href, "_blank", "noopener,noreferrer"));
}
