// An answer in lines of JSON: what a call says on its way, then its outcome.

import { isRecord } from "./rpc.js";

export const LINES = "application/x-ndjson";

/**
 * The last line; each before it goes to `progress`. Throws when the lines end without one.
 *
 * @param {Response} response @param {import("./types.d.ts").Progress} progress
 * @returns {Promise<Record<string, unknown>>}
 */
export async function lastLine(response, progress) {
  const decoder = new TextDecoder();
  let last;
  /** @type {string[]} */
  let parts = [];
  const reader = response.body?.getReader();
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    const text = decoder.decode(read.value, { stream: true });
    parts.push(text);
    if (!text.includes("\n")) continue; // a long line is joined once, not for each of its pieces
    const lines = parts.join("").split("\n");
    parts = lines.splice(-1);
    for (const line of lines) {
      last = JSON.parse(line);
      if (isRecord(last.progress)) progress(last.progress);
    }
  }
  if (!isRecord(last) || "progress" in last) throw new Error("the answer broke off");
  return last;
}
