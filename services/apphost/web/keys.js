// Keys for the page. They go to the document that has the focus, so the page gets it on load, and
// arrows and Escape pressed on the host's own surface are told to it. Only these: nothing that a
// person types there can be learned from it.

import { focusPage } from "./stage.js";

const KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Escape"]);
const OWN_KEYS = "input, textarea, select, [contenteditable], .log"; // text fields, and what scrolls
const ASKS = "dialog, [popover], [role~=dialog], [role~=alertdialog], [role~=menu]";

/** Whether the host has something open that takes keys itself. */
const isAsking = () => [...document.querySelectorAll(ASKS)].some((part) => part.checkVisibility());

/**
 * @param {HTMLIFrameElement} frame
 * @param {import("./bridge.js").Bridge} bridge
 */
export function forwardKeys(frame, bridge) {
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (!event.isTrusted || !KEYS.has(event.key) || event.isComposing) return;
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target instanceof Element && event.target.closest(OWN_KEYS)) return;
    // not held back for a page that does not listen yet: by then the key would mean nothing
    if (bridge.ready && !isAsking()) bridge.notify("x-strad/key", { key: event.key });
  };
  // capture: an Escape that closes something of the host's is seen while that is still open
  addEventListener("keydown", pressed, { capture: true });
  const focus = () => { if (document.activeElement === document.body && !isAsking()) focusPage(); };
  frame.addEventListener("load", focus, { once: true });
}
