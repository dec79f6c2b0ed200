// What the host tells a page about itself and the surroundings (SEP-1865, "Host Context"). Only
// keys and values that the official SDK accepts: one wrong value and the page never starts.

const DARK = matchMedia("(prefers-color-scheme: dark)");
const HOVER = matchMedia("(hover: hover)");

/** @param {HTMLElement} frame */
const surroundings = (frame) => ({
  theme: /** @type {"dark" | "light"} */ (DARK.matches ? "dark" : "light"),
  locale: navigator.language,
  timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  // fixed on both sides, so a page fills the stage and has no size to report: the host ignores
  // `size-changed`, which would otherwise feed the stage's own size back into itself
  containerDimensions: { width: frame.clientWidth, height: frame.clientHeight },
});

/**
 * @param {import("./types.d.ts").Boot} boot
 * @param {HTMLElement} frame
 * @param {import("./display.js").Display} display
 * @returns {import("./types.d.ts").McpUiInitializeResult}
 */
export function introduction(boot, frame, display) {
  const { hostContext, ...rest } = boot.introduction;
  return {
    ...rest,
    hostContext: {
      ...hostContext,
      ...surroundings(frame),
      displayMode: display.mode,
      availableDisplayModes: display.modes,
      deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: HOVER.matches },
    },
  };
}

/**
 * Tell of changes: theme, locale, time zone and size.
 *
 * @param {HTMLElement} frame
 * @param {(change: import("./types.d.ts").McpUiHostContext) => unknown} tell
 */
export function watchContext(frame, tell) {
  /** @type {Record<string, unknown>} */
  let last = surroundings(frame);
  const look = () => {
    const now = surroundings(frame);
    const isNew = (/** @type {[string, unknown]} */ [name, value]) => JSON.stringify(value) !== JSON.stringify(last[name]);
    const changed = Object.fromEntries(Object.entries(now).filter(isNew));
    last = now;
    if (frame.isConnected && Object.keys(changed).length > 0) tell(changed);
  };
  DARK.addEventListener("change", look);
  // no event tells of a time zone: it is looked at when the person comes back to the tab
  for (const name of ["languagechange", "visibilitychange"]) addEventListener(name, look);
  let due = 0;
  const settled = () => { clearTimeout(due); due = setTimeout(look, 150); };
  new ResizeObserver(settled).observe(frame);
}
