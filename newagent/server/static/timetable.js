/** One week as a grid: sections down, days across, everything at its place; it draws and knows nothing of rules. */

import { fill, h } from "./dom.js";
import { locale, t } from "./texts.js";

const HUES = 8;

/** Names of the days, Monday first, in the language of the page. */
export function weekday(dayOfWeek, style = "short") {
  // 2024-01-01 was a Monday.
  return new Intl.DateTimeFormat(locale, { weekday: style, timeZone: "UTC" }).format(Date.UTC(2024, 0, dayOfWeek));
}

/** "Tue 09-08, sections 3–4, 10:15–11:55". */
export function placeText(board, { day, start, end }) {
  const told = board.days[day - 1];
  return t("place", {
    week: told.week,
    weekday: weekday(told.day_of_week),
    date: told.date.slice(5),
    start,
    end,
    from: board.sections[start - 1].start,
    to: board.sections[end - 1].end,
  });
}

/** Side by side where things overlap: adds `lane` and `lanes` to each entry of one day. */
export function lanes(entries) {
  const sorted = [...entries].sort((one, two) => one.start - two.start || two.end - one.end || one.id - two.id);
  let group = [];
  let until = 0;
  const close = () => {
    const width = Math.max(...group.map((entry) => entry.lane)) + 1;
    for (const entry of group) entry.lanes = width;
    group = [];
  };
  const laid = sorted.map((entry) => ({ ...entry }));
  for (const entry of laid) {
    if (group.length && entry.start > until) close();
    const taken = new Set(group.filter((other) => other.end >= entry.start).map((other) => other.lane));
    entry.lane = 0;
    while (taken.has(entry.lane)) entry.lane += 1;
    until = Math.max(group.length ? until : 0, entry.end);
    group.push(entry);
  }
  if (group.length) close();
  return laid;
}

/** Draws a week into an element. `blocks` gives each movable entry its listeners. */
export class Grid {
  constructor(element, { decorate }) {
    this.element = element;
    this.decorate = decorate;
  }

  /** `proposal` is a list of `{name, before, after}` of an open card. */
  draw(board, entries, week, proposal = []) {
    const days = board.days.filter((day) => day.week === week);
    const rows = board.sections.length;
    const grid = h("div", { className: "week", role: "group", aria: { label: t("week", { week }) } });
    grid.style.setProperty("--rows", rows);
    grid.append(...this._frame(board, days));
    const columns = new Map(days.map((day) => [day.day, day.day_of_week + 1]));
    for (const [day, column] of columns) {
      const here = lanes(entries.filter((entry) => entry.day === day));
      grid.append(...here.map((entry) => this._block(board, entry, column)));
    }
    for (const change of proposal) {
      for (const [name, slot] of [["from", change.before], ["to", change.after]]) {
        if (slot && columns.has(slot.day)) grid.append(this._ghost(change, slot, columns.get(slot.day), name));
      }
    }
    fill(this.element, grid);
  }

  /** The cell of a section of a day that the grid shows now; null if it shows another week. */
  cell(day, section) {
    return this.element.querySelector(`.cell[data-day="${day}"][data-section="${section}"]`);
  }

  _frame(board, days) {
    const frame = [];
    const today = new Date().toLocaleDateString("sv");
    for (let dayOfWeek = 1; dayOfWeek <= 7; dayOfWeek += 1) {
      const day = days.find((one) => one.day_of_week === dayOfWeek);
      const name = day?.date === today ? "day today" : "day";
      const head = h("div", { className: name }, h("b", {}, weekday(dayOfWeek)), h("span", {}, day?.date.slice(5) ?? ""));
      head.style.gridColumn = dayOfWeek + 1;
      frame.push(head);
      board.sections.forEach((section, index) => {
        const cell = h("div", { className: `cell ${section.period}${day ? "" : " outside"}` });
        if (day) Object.assign(cell.dataset, { day: day.day, section: index + 1 });
        cell.style.gridColumn = dayOfWeek + 1;
        cell.style.gridRow = index + 2;
        frame.push(cell);
      });
    }
    board.sections.forEach((section, index) => {
      const label = h("div", { className: "section" }, h("b", {}, String(index + 1)), h("span", {}, section.start));
      label.style.gridRow = index + 2;
      frame.push(label);
    });
    return frame;
  }

  _block(board, entry, column) {
    const tag = entry.movable ? "button" : "div";
    const kind = entry.kind === "course" ? "course" : entry.status;
    const names = ["block", kind, entry.can_embed && "host", entry.drafted && "drafted", entry.protected && "shielded"];
    const block = h(
      tag,
      { className: names.filter(Boolean).join(" "), title: `${entry.name} · ${placeText(board, entry)}` },
      h("span", { className: "name" }, entry.name),
      entry.location ? h("span", { className: "where" }, entry.location) : null,
    );
    if (entry.class_id) block.dataset.hue = entry.class_id % HUES;
    block.dataset.id = entry.id;
    Object.assign(block.style, { gridColumn: column, gridRow: `${entry.start + 1} / ${entry.end + 2}` });
    block.style.setProperty("--lane", entry.lane);
    block.style.setProperty("--lanes", entry.lanes);
    if (entry.movable) {
      block.type = "button";
      block.setAttribute("aria-label", `${entry.name}, ${placeText(board, entry)}`);
      this.decorate(block, entry);
    }
    return block;
  }

  _ghost(change, slot, column, name) {
    const ghost = h("div", { className: `ghost ${name}` }, h("span", { className: "name" }, change.name));
    Object.assign(ghost.style, { gridColumn: column, gridRow: `${slot.start + 1} / ${slot.end + 2}` });
    return ghost;
  }
}
