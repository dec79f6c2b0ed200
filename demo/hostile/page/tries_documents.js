"use strict";
/* global room */

/** Other documents: frames inside this one, and this frame going elsewhere. */
(() => {
  const { attempt, onClick, refused, escaped, watched, sink, home } = room;
  const KIND = "Other documents";

  /** @param {string} tag @param {Record<string, string>} attributes */
  function make(tag, attributes) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  }

  /**
   * A document inside this one.
   * @param {string} id
   * @param {string} says
   * @param {string} tag
   * @param {string} attribute
   * @param {string} address
   */
  function inner(id, says, tag, attribute, address) {
    attempt(KIND, id, says, async () => {
      const made = make(tag, { [attribute]: address, width: "1", height: "1" });
      const end = await watched(address, () => document.body.append(made));
      made.remove();
      return end;
    });
  }

  /** @param {string} address */
  function send(address) {
    const form = /** @type {HTMLFormElement} */ (make("form", { action: address, method: "post", target: "_blank" }));
    document.body.append(form);
    form.submit();
    form.remove();
  }

  /** @param {string} id @param {string} says @param {string} address */
  function form(id, says, address) {
    attempt(KIND, id, says, () => watched(address, () => send(address)));
  }

  inner("iframe", "Frame an outside page", "iframe", "src", `${sink}/iframe`);
  inner("iframe-console", "Frame the console", "iframe", "src", new URL("/?framed", home).href);
  inner("object", "Embed an object", "object", "data", `${sink}/object`);
  inner("embed", "Embed a plug-in", "embed", "src", `${sink}/embed`);
  form("form", "Send a form", `${sink}/form`);
  form("form-console", "Send a form to the console", new URL("/auth/sign-out", home).href);

  attempt(KIND, "base", "Move every relative address", async () => {
    const address = `${sink}/base/`;
    const base = make("base", { href: address });
    const end = await watched(address, () => document.head.prepend(base));
    const moved = new URL("x", document.baseURI).href.startsWith(sink);
    base.remove();
    return moved ? escaped(document.baseURI) : end.outcome === "sent" ? refused("baseURI stayed") : end;
  });
  attempt(KIND, "popup", "Open a window without a click", () => {
    const opened = window.open(`${sink}/popup`, "_blank");
    return opened ? escaped("a window opened") : refused("window.open returned null");
  });
  attempt(KIND, "popup-top", "Open an address in the whole tab", () => {
    const opened = window.open(`${sink}/popup-top`, "_top");
    return opened ? escaped("the tab was handed over") : refused("window.open returned null");
  });
  attempt(KIND, "inner-frame-bridge", "Speak to the host from a frame inside", async () => {
    const inner = make("iframe", { hidden: "", srcdoc: `<${"script"}>
      addEventListener("message", (event) => parent.postMessage({ heard: event.data }, "*"));
      top.postMessage({ jsonrpc: "2.0", id: "inner", method: "ping", params: {} }, "*");
    </${"script"}>` });
    const heard = new Promise((resolve) => {
      addEventListener("message", ({ data, source }) => {
        if (source !== parent && data?.heard?.id === "inner") resolve(data.heard);
      });
      setTimeout(() => resolve(null), 700);
    });
    document.body.append(inner);
    const answer = await heard;
    inner.remove();
    return answer ? escaped("the host answered another window") : refused("the host did not answer it");
  });

  onClick("click-popup", "Open a window", () => void window.open(`${sink}/click-popup`, "_blank"));
  onClick("click-link", "Follow a link", () => {
    const link = /** @type {HTMLAnchorElement} */ (make("a", { href: `${sink}/click-link` }));
    document.body.append(link);
    link.click();
    link.remove();
  });
  onClick("click-form", "Send a form", () => send(`${sink}/click-form`));
  onClick("click-history", "Fill the tab's history", () => {
    for (let step = 0; step < 60; step += 1) {
      room.post({ jsonrpc: "2.0", method: "x-strad/hash", params: { hash: `#trap-${step}`, push: true } });
    }
  });
  onClick("click-fullscreen", "Cover the whole screen", () => {
    document.documentElement.requestFullscreen().catch(() => undefined);
  });
  onClick("location", "Go elsewhere: location=", () => {
    location.href = `${sink}/location`;
  });
  onClick("location-data", "Become another document: data:", () => {
    const code = "parent.postMessage({jsonrpc:'2.0',id:1,method:'ping',params:{}},'*')";
    location.href = `data:text/html,<script>${code}</${"script"}>`;
  });
  onClick("meta-refresh", "Go elsewhere: meta refresh", () => {
    document.head.append(make("meta", { "http-equiv": "refresh", content: `0;url=${sink}/meta-refresh` }));
  });
  onClick("reload", "Load the frame's own route again", () => location.reload());
  onClick("sent-note", "Write a note through the host", () => {
    void room.ask("tools/call", { name: "write_note", arguments: { text: "by a click" } });
  });
})();
