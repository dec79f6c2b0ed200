/**
 * Makes demo/catalog/view.html out of this folder and the App SDK: one file that loads nothing.
 *
 *     node demo/catalog/page/bundle.mjs [folder]    default: demo/catalog
 *
 * Also writes view.licenses.txt, the licences of the packages that are inside. The same inputs give
 * the same bytes; a test rebuilds and compares.
 */

import { readFile, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const page = dirname(fileURLToPath(import.meta.url));
const root = join(page, "..", "..", "..");
const out = process.argv[2] ?? join(page, "..");

/** The SDK checks messages with zod, which brings its error texts in fifty languages. One will do. */
const oneLanguage = {
  name: "one-language",
  setup({ onLoad }) {
    const contents = 'export { default as en } from "./en.js";';
    onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({ contents }));
  },
};

const common = { absWorkingDir: root, bundle: true, minify: true, write: false, charset: "utf8" };
const script = await build({
  ...common,
  entryPoints: [join(page, "app.js")],
  format: "esm",
  target: "es2022",
  legalComments: "none",
  plugins: [oneLanguage],
  metafile: true,
});
const style = await build({ ...common, entryPoints: [join(page, "catalog.css")], target: "chrome123" });

const js = text(script);
const css = text(style);
if (js.includes("</script") || css.includes("</style")) throw new Error("the bundle would end early");

const html = (await readFile(join(page, "view.html"), "utf8"))
  // Top-level await needs a module; an inline one loads nothing either.
  .replace("<script>/* app.js */", () => `<script type="module">${js}`)
  .replace("/* catalog.css */", () => css)
  .replace("<title>", () => "<!-- Third-party licences: view.licenses.txt beside this file. -->\n<title>");
await writeFile(join(out, "view.html"), html);
await writeFile(join(out, "view.licenses.txt"), await licences(script.metafile));

/** @param {import("esbuild").BuildResult} result */
function text(result) {
  return result.outputFiles?.[0]?.text.trim() ?? "";
}

/** Name, version and licence text of every package that the bundle has code from. */
async function licences({ outputs }) {
  const used = Object.values(outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const names = used
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([path]) => path.match(/^node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
  const parts = [];
  for (const name of [...new Set(names)].filter(Boolean).sort()) {
    const folder = join(root, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
    const terms = file ? await readFile(join(folder, file), "utf8") : "";
    parts.push(`${name} ${version} (${license})\n\n${terms.trim()}\n`);
  }
  return parts.join(`\n${"-".repeat(80)}\n\n`);
}
