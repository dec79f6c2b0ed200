// A page with the official App SDK. It keeps what the host says; a test asks `app` for the rest.
import { App } from "@modelcontextprotocol/ext-apps";

const app = new App(
  { name: "sdk", version: "1" },
  JSON.parse(globalThis.document.documentElement.dataset.capabilities ?? "{}"),
  { autoResize: true },
);
globalThis.app = app;
globalThis.told = [];
for (const name of ["toolinput", "toolresult", "toolcancelled", "hostcontextchanged"]) {
  app.addEventListener(name, (params) => globalThis.told.push([name, params]));
}
app.onteardown = async () => {
  globalThis.told.push(["teardown"]);
  return {};
};
globalThis.connected = app.connect().then(
  () => "connected",
  (error) => String(error),
);
