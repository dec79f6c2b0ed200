// The only file that hears a window and speaks to one.

/**
 * @param {HTMLIFrameElement} frame
 * @param {(data: unknown) => void} hear
 * @returns {import("./types.d.ts").Port}
 */
export function openPort(frame, hear) {
  /** @param {MessageEvent} event */
  const listen = (event) => {
    // Child frames and popups of the page have the origin "null" too, so the window is the identity.
    const isFrame = event.source !== null && event.source === frame.contentWindow;
    if (isFrame && event.origin === "null") hear(event.data);
  };
  addEventListener("message", listen);
  return {
    // An opaque origin cannot be named, hence "*": nothing secret is ever sent to a page.
    send: (message) => frame.contentWindow?.postMessage(message, "*"),
    close: () => removeEventListener("message", listen),
  };
}
