// `ui/download-file` (SEP-1865, draft): the host saves what the page hands over, or a resource of its
// server, once the person has seen name and size and agreed.

import { INVALID_PARAMS, REFUSED, Refusal, isRecord } from "./rpc.js";
import { safeName, saveFile } from "./save.js";

const MAX_FILES = 10;
const MAX_BYTES = 10 * 1024 * 1024;

/**
 * @param {import("./strip.js").Strip} strip
 * @param {(params: import("./types.d.ts").Params) => any} readResource the server's own answer
 * @returns {(params: import("./types.d.ts").Params) => Promise<object>}
 */
export function answerDownloads(strip, readResource) {
  return async ({ contents }) => {
    if (!Array.isArray(contents) || contents.length === 0 || contents.length > MAX_FILES) {
      throw new Refusal(INVALID_PARAMS, `ui/download-file takes 1 to ${MAX_FILES} contents.`);
    }
    /** @type {{ name: string, bytes: Uint8Array<ArrayBuffer> }[]} */
    const files = [];
    for (const item of contents) {
      const link = isRecord(item) && item.type === "resource_link" ? item : null;
      const found = link ? (await readResource({ uri: link.uri })).contents?.[0] : item?.resource;
      files.push({ name: safeName(link?.name || found?.uri), bytes: bytesOf(found) });
    }
    const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (total > MAX_BYTES) throw new Refusal(REFUSED, "More than 10 MB is not saved from a page.");
    const what = files.length === 1 ? (files[0]?.name ?? "") : `${files.length} files`;
    const tail = ` (${total < 10_000 ? `${total} bytes` : `${(total / 1e6).toFixed(2)} MB`})`;
    const words = { lead: "This page wants to save ", press: "Save", all: files.map(({ name }) => name).join("\n") };
    return strip.offer({ ...words, what, tail }, () => {
      for (const { name, bytes } of files) saveFile(name, [bytes]);
    });
  };
}

/** The bytes of a resource's `text` or base64 `blob`. @param {unknown} resource */
function bytesOf(resource) {
  const { text, blob } = isRecord(resource) ? resource : {};
  try {
    if (typeof text === "string") return new TextEncoder().encode(text);
    if (typeof blob === "string") return Uint8Array.from(atob(blob), (byte) => byte.charCodeAt(0));
  } catch {
    // no base64: the same as nothing
  }
  throw new Refusal(INVALID_PARAMS, "A file is a resource with a text, or with a blob in base64.");
}
