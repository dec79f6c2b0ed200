// The frame: an opaque origin, nothing allowed. And what its own answer has said to its embedder.

/** @param {import("./types.d.ts").Boot} boot */
export function makeFrame({ name, sandbox }) {
  const frame = document.createElement("iframe");
  frame.title = `${name}, a page of its server`;
  const fixed = { sandbox, allow: "", referrerpolicy: "no-referrer" };
  for (const [attribute, value] of Object.entries(fixed)) frame.setAttribute(attribute, value);
  return frame;
}

/**
 * The answer to the frame's own request, as far as its embedder may know it.
 *
 * @param {HTMLIFrameElement} frame
 * @returns {{ failed: boolean, plain: boolean, facts: [string, string][] }} see policy_facts.py
 */
export function frameAnswer({ src }) {
  const bare = (/** @type {string} */ url) => url.split("#")[0]; // Firefox keeps the hash in the name
  const entries = performance.getEntriesByType("resource").filter(({ name }) => bare(name) === bare(src));
  const entry = /** @type {PerformanceResourceTiming | undefined} */ (entries.at(-1));
  const timing = new Map(entry?.serverTiming?.map(({ name, description }) => [name, description]));
  const facts = JSON.parse(decodeURIComponent(timing.get("policy") ?? "[]"));
  return { failed: Number(entry?.responseStatus) >= 400, plain: timing.has("plain"), facts };
}
