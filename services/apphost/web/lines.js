// An answer in lines of JSON: what a call says on its way, then its outcome. A plain answer is one line.

export const LINES = "application/x-ndjson";

/**
 * The last line; each before it goes to `progress`. Throws when the answer ends without one.
 *
 * @param {Response} response @param {import("./types.d.ts").Progress} [progress]
 * @returns {Promise<any>} what our own server said
 */
export async function lastLine(response, progress) {
  const decoder = new TextDecoder();
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  let last;
  /** @type {string[]} */
  let parts = [];
  for (let done = false; !done; ) {
    const read = await reader.read();
    ({ done } = read);
    const text = decoder.decode(read.value, { stream: !done });
    parts.push(text);
    if (!done && !text.includes("\n")) continue; // a long line is joined once, not for each of its pieces
    const lines = parts.join("").split("\n");
    parts = done ? [] : lines.splice(-1);
    for (const line of lines.filter(Boolean)) {
      last = JSON.parse(line);
      if (last.progress) progress?.(last.progress);
    }
  }
  if (!last || last.progress) throw new Error("the answer broke off");
  return last;
}
