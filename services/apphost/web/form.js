// The fields that the server's side made of a schema (`Field` in types.d.ts), drawn and read. Their
// limits are the browser's own to check. Nothing of them becomes markup.

import { make } from "./stage.js";

let drawn = 0;

/**
 * Draw the fields into a place, in the stead of others. Gives a reader of the values, which returns
 * null (and says so at the field) while something cannot be read.
 *
 * @param {HTMLElement} place
 * @param {import("./types.d.ts").Field[]} fields
 * @returns {() => import("./types.d.ts").Params | null}
 */
export function drawForm(place, fields) {
  place.replaceChildren();
  const readers = fields.map((field) => {
    const input = control(field);
    const label = make("label", field.label);
    label.htmlFor = input.id;
    const row = make("div", "", "field");
    row.append(label, input);
    if (field.hint) row.append(make("p", field.hint, "field-hint"));
    place.append(row);
    return () => /** @type {const} */ ([field.name, value(field, input)]);
  });
  return () => {
    try {
      // fromEntries makes own properties only: `__proto__` in a schema is a name like any other
      return Object.fromEntries(readers.map((read) => read()).filter(([, given]) => given !== undefined));
    } catch {
      return null;
    }
  };
}

/** @param {import("./types.d.ts").Field} field */
function control({ tag, attributes, choices }) {
  const input = Object.assign(document.createElement(tag), attributes, { id: `field-${drawn++}` });
  for (const [choice, label, chosen] of choices) input.append(new Option(label, choice, false, chosen));
  input.addEventListener("input", () => input.setCustomValidity(""));
  return input;
}

/**
 * The value of one field, undefined when it is left out. Throws when it is no JSON.
 *
 * @param {import("./types.d.ts").Field} field @param {any} input the control that was drawn for it
 */
function value({ reads, optional }, input) {
  if (reads === "check") return input.checked || !optional ? input.checked : undefined;
  if (optional && input.value === "") return undefined;
  if (reads === "several") return [...input.selectedOptions].map((chosen) => chosen.value);
  if (reads === "number") return Number(input.value);
  if (reads === "moment") return new Date(input.value).toISOString();
  if (reads === "text") return input.value;
  try {
    return JSON.parse(input.value);
  } catch (error) {
    input.setCustomValidity("This is not JSON.");
    input.reportValidity();
    throw error;
  }
}
