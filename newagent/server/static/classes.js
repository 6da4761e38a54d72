/** The editor of task classes: what is to be learnt, when, how spread, and in which pieces. */

import { call } from "./api.js";
import { attempt, openDialog, sure } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { locale, t } from "./texts.js";
import { weekday } from "./timetable.js";

const CHOICES = {
  strategy: ["steady", "rapid"],
  subject_type: ["quantitative", "memory", "reading", "mixed"],
  difficulty_level: ["low", "medium", "high"],
  cognitive_intensity: ["low", "medium", "high"],
};

/** Opens the list of classes; `changed()` follows every stored change. */
export function openClasses({ board, changed }) {
  return openDialog(t("task_classes"), (body) => list(body, board, changed));
}

function list(body, board, changed) {
  const rows = h("ul", { className: "list" });
  const back = () => list(body, board, changed);
  fill(body, h("div", { className: "row" }, button(t("new_class"), () => edit(body, board, {}, changed, back), "primary")), rows);
  attempt(body, async () => {
    const all = await call("GET", "/task-classes");
    const row = (one) => {
      const open = async () => edit(body, board, await call("GET", `/task-classes/${one.id}`), changed, back);
      const remove = async () => {
        if (!(await sure(t("delete_class", { name: one.name }), t("delete")))) return;
        if (await attempt(body, () => call("DELETE", `/task-classes/${one.id}`))) {
          changed();
          back();
        }
      };
      const told = h("small", {}, `${one.start_date ?? "…"} – ${one.end_date ?? "…"}`);
      return h("li", {}, button(one.name, () => attempt(body, open), "link"), told, button(t("delete"), remove, "danger"));
    };
    fill(rows, ...(all.length ? all.map(row) : [h("li", {}, t("no_classes"))]));
  });
}

function edit(body, board, known, changed, back) {
  const fields = inputs(board, known);
  const form = h("form", { className: "fields class" }, ...Object.values(fields).map((field) => field.row));
  form.append(h("div", { className: "row" }, h("button", { type: "submit", className: "primary" }, t("save")), button(t("back"), back)));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // Fields that this form does not show stay as they are.
    const { id, ...kept } = known;
    const read = Object.entries(fields).map(([name, field]) => [name, field.read()]);
    const document = { ...kept, ...Object.fromEntries(read) };
    for (const name of Object.keys(document)) if (document[name] === null) delete document[name];
    const path = id === undefined ? "/task-classes" : `/task-classes/${id}`;
    const stored = await attempt(body, () => call(id === undefined ? "POST" : "PUT", path, { body: document }));
    if (!stored) return;
    changed();
    back();
  });
  fill(body, form);
  form.querySelector("input").focus();
}

function inputs(board, known) {
  const blocks = Math.ceil(board.sections.length / 2);
  const chosen = (name) => choice(name, known[name]);
  return {
    name: text("name", known.name, { required: true, maxLength: 100 }),
    start_date: text("start_date", known.start_date, { type: "date", required: true }),
    end_date: text("end_date", known.end_date, { type: "date", required: true }),
    strategy: chosen("strategy"),
    subject_type: chosen("subject_type"),
    difficulty_level: chosen("difficulty_level"),
    cognitive_intensity: chosen("cognitive_intensity"),
    allow_filler_course: truth("allow_filler_course", known.allow_filler_course),
    excluded_days_of_week: many("excluded_days_of_week", known.excluded_days_of_week, 7, (one) => weekday(one)),
    excluded_slots: many("excluded_slots", known.excluded_slots, blocks, (one) => `${2 * one - 1}–${2 * one}`),
    items: items(known.items ?? []),
  };
}

function labelled(name, input) {
  return h("label", {}, h("span", {}, t(`class.${name}`)), input);
}

function text(name, value, properties) {
  const input = h("input", { type: "text", value: value ?? "", ...properties });
  return { row: labelled(name, input), read: () => input.value || null };
}

function choice(name, value) {
  const input = h("select", {});
  if (name !== "strategy") input.append(h("option", { value: "" }, "—"));
  for (const one of CHOICES[name]) input.append(h("option", { value: one }, t(`value.${one}`)));
  input.value = value ?? (name === "strategy" ? "steady" : "");
  return { row: labelled(name, input), read: () => input.value || null };
}

function truth(name, value) {
  const input = h("input", { type: "checkbox", checked: Boolean(value) });
  return { row: labelled(name, input), read: () => input.checked };
}

function many(name, values = [], count, word) {
  const boxes = Array.from({ length: count }, (_, index) => {
    const box = h("input", { type: "checkbox", value: index + 1, checked: values.includes(index + 1) });
    return { box, row: h("label", { className: "check" }, box, word(index + 1)) };
  });
  const row = h("fieldset", {}, h("legend", {}, t(`class.${name}`)), h("div", { className: "checks" }, ...boxes.map((one) => one.row)));
  return { row, read: () => boxes.filter(({ box }) => box.checked).map(({ box }) => Number(box.value)) };
}

/** One item a line, its length in sections after a bar: "Chapter 3 | 2". Known items keep their ids by name. */
function items(known) {
  const ordered = [...known].sort((one, two) => (one.order ?? 0) - (two.order ?? 0));
  const lines = ordered.map((item) => (item.duration ? `${item.name} | ${item.duration}` : item.name));
  const input = h("textarea", { rows: 8, value: lines.join("\n"), required: true, lang: locale, placeholder: t("items_placeholder") });
  const read = () => {
    const unused = [...ordered];
    const given = input.value.split("\n").map((line) => line.trim()).filter(Boolean);
    return given.map((line) => {
      const [, name, duration] = line.match(/^(.*?)(?:\s*[|｜]\s*(\d+))?$/);
      const at = unused.findIndex((item) => item.name === name);
      const kept = at >= 0 ? unused.splice(at, 1)[0] : {};
      const item = { id: kept.id, priority: kept.priority, name, duration: duration ? Number(duration) : undefined };
      return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined && value !== null));
    });
  };
  return { row: labelled("items", input), read };
}
