/** A form made from a JSON schema: the arguments of a tool, to be changed before they are approved. */

import { button, freshId, h } from "./dom.js";
import { known, t } from "./texts.js";

/** The schema itself where it points elsewhere, and the one that counts where null is allowed besides. */
function resolve(schema, root) {
  let found = schema ?? {};
  while (found.$ref) found = root.$defs[found.$ref.split("/").pop()];
  const others = found.anyOf?.filter((one) => one.type !== "null");
  if (others?.length === 1) return { ...resolve(others[0], root), optional: true };
  return found;
}

/** A form for the values of an object schema; `submit(values)` gets the whole object. */
export function schemaForm(schema, values, submit) {
  const field = objectField(schema, values ?? {}, schema);
  const form = h("form", { className: "schema", noValidate: false });
  form.append(field.element, h("button", { type: "submit", className: "primary" }, t("save")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(field.read());
  });
  return form;
}

function fieldOf(schema, value, root, name) {
  const found = resolve(schema, root);
  if (found.enum || found.const !== undefined) return choice(found.enum ?? [found.const], value, found.optional);
  switch (found.type) {
    case "object":
      return objectField(found, value ?? {}, root);
    case "array":
      return listField(found, value ?? [], root, name);
    case "boolean":
      return truth(value);
    case "integer":
    case "number":
      return number(found, value);
    default:
      return text(found, value);
  }
}

function objectField(schema, values, root) {
  const required = new Set(schema.required ?? []);
  const fields = Object.entries(schema.properties ?? {}).map(([name, one]) => {
    const field = fieldOf(one, values[name], root, name);
    const id = freshId("field");
    const told = known(`argument.${name}`, known(`preference.${name}`, name));
    if (field.input) field.input.id = id;
    if (field.input && required.has(name) && field.input.type !== "checkbox") field.input.required = true;
    const row = field.input
      ? h("label", { for: id }, h("span", {}, told), field.element)
      : h("fieldset", {}, h("legend", {}, told), field.element);
    return { name, field, row, given: name in values };
  });
  return {
    element: h("div", { className: "fields" }, ...fields.map(({ row }) => row)),
    read() {
      const read = {};
      for (const { name, field, given } of fields) {
        const value = field.read();
        const empty = value === null || (Array.isArray(value) && !value.length);
        if (!empty || given || required.has(name)) read[name] = value;
      }
      return read;
    },
  };
}

function listField(schema, values, root, name) {
  const rows = h("div", { className: "rows" });
  const fields = new Map();
  const add = (value) => {
    const field = fieldOf(schema.items, value, root, name);
    if (field.input) field.input.setAttribute("aria-label", known(`argument.${name}`, known(`preference.${name}`, name)));
    const row = h("div", { className: "row" }, field.element);
    row.append(
      button("×", () => {
        fields.delete(row);
        row.remove();
      }, "plain", { title: t("remove"), ariaLabel: t("remove") }),
    );
    fields.set(row, field);
    rows.append(row);
  };
  values.forEach(add);
  const more = button(t("add"), () => add(undefined));
  return { element: h("div", {}, rows, more), read: () => [...fields.values()].map((field) => field.read()) };
}

function choice(options, value, optional) {
  const input = h("select", {});
  if (optional || value === undefined) input.append(h("option", { value: "" }, "—"));
  for (const option of options) input.append(h("option", { value: String(option) }, known(`value.${option}`, String(option))));
  input.value = value === undefined || value === null ? "" : String(value);
  const read = () => options.find((option) => String(option) === input.value) ?? null;
  return { element: input, input, read };
}

function truth(value) {
  const input = h("input", { type: "checkbox", checked: Boolean(value) });
  return { element: input, input, read: () => input.checked };
}

function number(schema, value) {
  const input = h("input", { type: "number", step: schema.type === "integer" ? "1" : "any", value: value ?? "" });
  if (schema.minimum !== undefined) input.min = schema.minimum;
  if (schema.maximum !== undefined) input.max = schema.maximum;
  return { element: input, input, read: () => (input.value === "" ? null : Number(input.value)) };
}

function text(schema, value) {
  const input = h("input", { type: schema.format === "date" ? "date" : "text", value: value ?? "" });
  if (schema.maxLength !== undefined) input.maxLength = schema.maxLength;
  return { element: input, input, read: () => input.value || null };
}
