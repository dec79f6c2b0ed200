"use strict";
/* global room */

/** Reading and planting what belongs to the console's origin, and reaching its windows. */
(() => {
  const { attempt, refused, escaped, thrown, home } = room;
  const KIND = "The console's storage and windows";

  /**
   * An attempt that must throw.
   * @param {string} id
   * @param {string} says
   * @param {() => unknown} grab
   */
  function mustThrow(id, says, grab) {
    attempt(KIND, id, says, async () => {
      try {
        return escaped(room.short(await grab()));
      } catch (error) {
        return thrown(error);
      }
    });
  }

  mustThrow("origin", "Be the console's own origin", () => {
    if (self.origin === "null") throw new Error("this document's origin is null");
    return self.origin;
  });
  mustThrow("cookie", "Read the console's cookies", () => document.cookie);
  mustThrow("cookie-write", "Plant a cookie", () => (document.cookie = "planted=1; path=/"));
  mustThrow("cookie-store", "Read cookies through cookieStore", () => {
    const store = /** @type {any} */ (self).cookieStore;
    if (!store) throw new Error("there is no cookieStore here");
    return store.getAll();
  });
  mustThrow("local-storage", "Use localStorage", () => localStorage.length);
  mustThrow("session-storage", "Use sessionStorage", () => sessionStorage.length);
  mustThrow("indexed-db", "Open a database", () => {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open("room");
      request.onsuccess = () => resolve("opened");
      request.onerror = () => reject(request.error);
    });
  });
  mustThrow("cache-storage", "Open a cache", () => caches.open("room"));
  mustThrow("private-files", "Open the origin's private files", () => navigator.storage.getDirectory());
  mustThrow("service-worker", "Install a service worker", () => navigator.serviceWorker.register(`${home}/static/sw.js`));
  mustThrow("shared-worker", "Start a shared worker", () => new SharedWorker("data:,"));
  mustThrow("parent-document", "Read the host's document", () => parent.document.body.textContent);
  mustThrow("top-document", "Read the top document", () => top?.document.title);
  mustThrow("frame-element", "Take hold of the host's iframe", () => {
    if (!frameElement) throw new Error("frameElement is null");
    return frameElement.outerHTML;
  });
  mustThrow("host-address", "Read the host's address", () => parent.location.href);
  mustThrow("top-navigation", "Send the whole tab elsewhere", () => {
    if (!top) throw new Error("there is no top");
    top.location.href = `${room.sink}/top`;
    return "top.location was set";
  });
  mustThrow("history", "Walk the tab's history", () => top?.history.length);
  attempt(KIND, "referrer", "Read the host's query from the referrer", () => {
    const leaked = document.referrer.includes("?");
    return leaked ? escaped(room.short(document.referrer)) : refused(`referrer is "${document.referrer}"`);
  });
  mustThrow("confirm", "Open a dialog over the console", () => {
    if (!confirm("Escape room: may I?")) throw new Error("confirm() answered false at once");
    return "answered";
  });
})();
