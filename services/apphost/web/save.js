// Files that the host gives to the person's browser. A page itself can save nothing: its sandbox
// lacks allow-downloads.

/**
 * A name that any system takes, and that looks like what it is: no path, no control or direction
 * characters, no dot in front, none of Windows' own names.
 *
 * @param {unknown} name a name or the address it is the end of
 */
export function safeName(name) {
  const last = String(name).split(/[?#]/)[0]?.split(/[/\\]/).at(-1) ?? "";
  const plain = last.replace(/[\p{C}\p{Zl}\p{Zp}<>:"|*]/gu, "").replace(/^[.\s]+|[.\s]+$/g, "");
  const [, stem = "", end = ""] = /^(.*?)(\.[^.\s]{1,10})?$/.exec(plain) ?? [];
  const taken = /^(con|prn|aux|nul|(com|lpt)\d)$/i.test(stem.split(".")[0] ?? "");
  return (taken ? "_" : "") + (stem.slice(0, 80) || "download") + end;
}

/** @param {string} name @param {BlobPart[]} parts */
export function saveFile(name, parts) {
  // one type for all, so that no browser shows a file, on our own origin, in place of saving it
  const url = URL.createObjectURL(new Blob(parts, { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
