import js from "@eslint/js";
import globals from "globals";

const BROWSER = ["services/apphost/web/**/*.js", "shared/ui/**/*.js", "demo/**/page/**/*.js"];

/** A message to a window is sent from one file, so that one file decides who may hear it. */
const onePort = {
  selector: "MemberExpression[property.name='postMessage']",
  message: "Only window_port.js talks to a window; use it instead.",
};

/** Markup from a string is how a page's data becomes our script. */
const noMarkup = ["innerHTML", "outerHTML", "insertAdjacentHTML", "createContextualFragment"].map(
  (property) => ({ property, message: "Build nodes with createElement and textContent." }),
);

export default [
  { ignores: ["**/node_modules/**", ".venv*/**", ".cache/**", "data/**", "artifacts/**"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-script-url": "error",
      "no-var": "error",
      "prefer-const": "error",
      "no-restricted-properties": [
        "error",
        ...noMarkup,
        { object: "document", property: "write", message: "Build nodes instead." },
      ],
    },
  },
  { files: ["**/*.js", "**/*.mjs"], ignores: BROWSER, languageOptions: { globals: globals.node } },
  { files: BROWSER, languageOptions: { globals: globals.browser } },
  {
    files: ["services/apphost/web/**/*.js"],
    ignores: ["services/apphost/web/window_port.js"],
    rules: { "no-restricted-syntax": ["error", onePort] },
  },
  {
    // This page is the attacker: it does what the rules forbid.
    files: ["demo/hostile/**/*.js"],
    rules: {
      "no-eval": "off",
      "no-implied-eval": "off",
      "no-new-func": "off",
      "no-script-url": "off",
      "no-restricted-properties": "off",
    },
  },
];
