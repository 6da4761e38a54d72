/** Preferences and protections of a conversation's timetable, set by the student directly. */

import { call } from "./api.js";
import { attempt, openDialog } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { schemaForm } from "./form.js";
import { known, t } from "./texts.js";
import { weekday } from "./timetable.js";

/** Opens the dialog on a board; `changed()` loads it anew and gives the fresh one. */
export function openWishes({ board, changed }) {
  return openDialog(t("wishes"), (body) => draw(body, board, changed));
}

function draw(body, board, changed) {
  const act = (tool, args) =>
    attempt(body, async () => {
      await call("POST", "/agent/act", { body: { conversation_id: board.conversation_id, tool, arguments: args } });
      draw(body, await changed(), changed);
    });
  const form = schemaForm(withClasses(board.forms.set_preferences, board), board.preferences, (values) => {
    const reset = Object.fromEntries(Object.keys(board.preferences).map((name) => [name, null]));
    act("set_preferences", { ...reset, ...values });
  });
  fill(body, h("h3", {}, t("preferences")), form, h("h3", {}, t("protections")), ...shields(board, act));
}

/** Class ids are chosen by name. */
function withClasses(schema, board) {
  const copy = structuredClone(schema);
  const wish = copy.$defs?.PeriodWish?.properties;
  if (wish) wish.task_class_id = { anyOf: [{ enum: board.classes.map((one) => one.id) }, { type: "null" }] };
  return copy;
}

function shields(board, act) {
  const rows = board.protections.map((one) =>
    h("li", {}, nameOf(board, one), button(t("unprotect"), () => act("unprotect", { kind: one.kind, value: one.value }))),
  );
  const kind = h("select", { ariaLabel: t("protect_kind") });
  for (const one of ["class", "task", "weekday", "day"]) kind.append(h("option", { value: one }, known(`shield.${one}`, one)));
  const value = h("select", { ariaLabel: t("protect_what") });
  const options = () => {
    const found = choices(board, kind.value).map(([id, name]) => h("option", { value: id }, name));
    fill(value, ...found);
  };
  kind.addEventListener("change", options);
  options();
  const add = (event) => {
    event.preventDefault();
    act("protect", { kind: kind.value, value: Number(value.value) });
  };
  return [
    rows.length ? h("ul", { className: "list" }, ...rows) : h("p", {}, t("nothing_protected")),
    h("form", { className: "row", onsubmit: add }, kind, value, h("button", { type: "submit" }, t("protect"))),
  ];
}

function choices(board, kind) {
  switch (kind) {
    case "class":
      return board.classes.map((one) => [one.id, one.name]);
    case "weekday":
      return [1, 2, 3, 4, 5, 6, 7].map((one) => [one, weekday(one, "long")]);
    case "day":
      return board.days.map((one) => [one.day, `${one.date} ${weekday(one.day_of_week)}`]);
    default:
      return [...board.entries.filter((one) => one.movable), ...board.pending].map((one) => [one.id, one.name]);
  }
}

function nameOf(board, { kind, value }) {
  const found = choices(board, kind).find(([id]) => id === value);
  return found ? found[1] : `${kind} ${value}`;
}
