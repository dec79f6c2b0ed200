// What the host tells a page about itself and the surroundings (SEP-1865, "Host Context"). Only
// keys and values that the official SDK accepts: one wrong value and the page never starts.

const DARK = matchMedia("(prefers-color-scheme: dark)");
const HOVER = matchMedia("(hover: hover)");
const PROTOCOL = "2026-01-26";
/** Our own notifications, beyond the specification (docs/apps.md). */
const OURS = { "x-strad/key": {}, "x-strad/search": {}, "x-strad/hash": {} };

/** @returns {"dark" | "light"} */
const theme = () => (DARK.matches ? "dark" : "light");

const place = () => ({ locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone });

/** @param {HTMLElement} frame */
const size = (frame) => ({ width: frame.clientWidth, height: frame.clientHeight });

/**
 * @param {import("./types.d.ts").Boot} boot
 * @param {HTMLElement} frame
 * @param {import("./display.js").Display} display
 * @returns {import("./types.d.ts").McpUiInitializeResult}
 */
export function introduction(boot, frame, display) {
  return {
    protocolVersion: PROTOCOL,
    hostInfo: { name: "strad", version: boot.version },
    hostCapabilities: {
      ...{ openLinks: {}, downloadFile: {}, logging: {}, serverResources: {} },
      ...(boot.lookOnly ? {} : { serverTools: {} }),
      experimental: OURS,
    },
    hostContext: {
      theme: theme(),
      styles: { variables: boot.styles },
      displayMode: display.mode,
      availableDisplayModes: display.modes,
      // fixed on both sides, so a page fills the stage and has no size to report: the host ignores
      // `size-changed`, which would otherwise feed the stage's own size back into itself
      containerDimensions: size(frame),
      ...place(),
      platform: "web",
      deviceCapabilities: { touch: navigator.maxTouchPoints > 0, hover: HOVER.matches },
      ...(boot.tool ? { toolInfo: { tool: boot.tool } } : {}),
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
  DARK.addEventListener("change", () => tell({ theme: theme() }));
  let here = place();
  const look = () => JSON.stringify(here) !== JSON.stringify(place()) && tell((here = place()));
  // no event tells of a time zone: it is looked at when the person comes back to the tab
  for (const name of ["languagechange", "visibilitychange"]) addEventListener(name, look);
  let due = 0;
  let last = JSON.stringify(size(frame));
  new ResizeObserver(() => {
    clearTimeout(due);
    due = setTimeout(() => {
      const now = JSON.stringify(size(frame));
      if (now !== last && frame.isConnected) tell({ containerDimensions: size(frame) });
      last = now;
    }, 150);
  }).observe(frame);
}
