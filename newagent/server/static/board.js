/** The timetable side: the board of a conversation with the student's draft, its week, toolbar, tray and notices. */

import { call, download } from "./api.js";
import { button, fill, h } from "./dom.js";
import { Draft } from "./draft.js";
import { Moving } from "./moving.js";
import { locale, t } from "./texts.js";
import { Grid, placeText, weekday } from "./timetable.js";

/** Shows and changes one board at a time. */
export class Board {
  constructor({ toolbar, notice, grid, tray }, { onStashed }) {
    Object.assign(this, { toolbar, notice, tray, onStashed });
    this.draft = new Draft();
    this.week = null;
    this.proposal = [];
    this.grid = new Grid(grid, { decorate: (block, entry) => this.moving.decorate(block, entry) });
    this.moving = new Moving(this.grid, {
      legal: (entry, week) => this._legal(entry, week),
      drop: (entry, place) => this._put(entry, place),
      tell: (text, refused) => this.tell(text, refused),
      week: () => this.week,
    });
  }

  get board() {
    return this.draft.board;
  }

  /** Loads the board of a conversation, or the stored timetable where there is none yet. */
  async load(conversation) {
    const query = conversation ? `?conversation_id=${encodeURIComponent(conversation)}` : "";
    const board = await call("GET", `/agent/board${query}`);
    this.draft.load(board);
    const weeks = this.weeks;
    if (!weeks.includes(this.week)) this.week = this._firstWeek(weeks);
    this.draw();
  }

  /** What an open card would change, drawn from → to; the first week that it touches is shown. */
  propose(changes) {
    const drawn = (changes ?? []).filter((change) => change.task_id !== undefined);
    if (JSON.stringify(drawn) === JSON.stringify(this.proposal)) return;
    this.proposal = drawn;
    if (!this.board) return;
    const slot = drawn.map((change) => change.after ?? change.before).find(Boolean);
    if (slot) this.week = this.board.days[slot.day - 1]?.week ?? this.week;
    this.draw();
  }

  get weeks() {
    return [...new Set((this.board?.days ?? []).map((day) => day.week))];
  }

  /** The week of today if it is on the board, else the first that holds an item. */
  _firstWeek(weeks) {
    const today = new Date().toLocaleDateString("sv");
    const now = this.board.days.find((day) => day.date === today);
    const item = this.board.entries.find((entry) => entry.kind !== "course");
    return now?.week ?? (item ? this.board.days[item.day - 1].week : weeks[0]);
  }

  draw() {
    if (!this.board) return;
    this.grid.draw(this.board, this.draft.entries, this.week, this.proposal);
    this._drawToolbar();
    this._drawTray();
    if (this.moving.entry) this.moving.show();
  }

  /** A line for the student above the grid. */
  tell(text, refused = false) {
    this.notice.textContent = text;
    this.notice.className = refused ? "refused" : "";
  }

  /** Leafs by so many weeks. */
  leaf(by) {
    const weeks = this.weeks;
    const at = weeks.indexOf(this.week) + by;
    if (at < 0 || at >= weeks.length) return;
    this.week = weeks[at];
    this.draw();
  }

  _drawToolbar() {
    const { weeks, week, draft } = this;
    const at = weeks.indexOf(week);
    const choose = h("select", { ariaLabel: t("choose_week"), onchange: (event) => this._choose(Number(event.target.value)) });
    for (const one of weeks) choose.append(h("option", { value: one, selected: one === week }, t("week", { week: one })));
    const has = this.board.version !== null;
    const items = draft.entries.some((entry) => entry.status === "suggested");
    fill(
      this.toolbar,
      h(
        "div",
        { className: "leaf" },
        button("‹", () => this.leaf(-1), "plain", { disabled: at <= 0, ariaLabel: t("week_before") }),
        choose,
        button("›", () => this.leaf(1), "plain", { disabled: at >= weeks.length - 1, ariaLabel: t("week_after") }),
      ),
      this.board.cost ? h("p", { className: "score" }, t("score", this.board.cost)) : null,
      h(
        "div",
        { className: "acts" },
        has && draft.changed ? button(t("take_back"), () => this._back()) : null,
        has && draft.changed ? button(t("stash"), () => this._act(() => this._stash()), "primary") : null,
        has && !draft.changed ? button(t("undo"), () => this._act(() => this._undo()), "plain", { disabled: !this.board.earlier }) : null,
        has && !draft.changed && items ? button(t("apply"), () => this._act(() => this._apply()), "primary") : null,
        button(t("export"), () => this._act(() => download("/schedule.ics", "newagent.ics"))),
      ),
    );
  }

  _choose(week) {
    this.week = week;
    this.draw();
  }

  _drawTray() {
    const { pending } = this.draft;
    const picked = this.moving.entry;
    const rows = pending.map((entry) => {
      const row = button(entry.name, null, "block pending", { ariaLabel: t("pending_item", { name: entry.name, sections: entry.duration }) });
      row.dataset.id = entry.id;
      if (entry.class_id) row.dataset.hue = entry.class_id % 8;
      this.moving.decorate(row, entry);
      return row;
    });
    const out = picked?.day && picked.movable ? button(t("take_out"), () => this._takeOut(picked)) : null;
    const head = pending.length ? h("h3", {}, t("pending", { count: pending.length })) : null;
    fill(this.tray, head, h("div", { className: "rows" }, ...rows), out);
  }

  _takeOut(entry) {
    this.moving.cancel();
    this._put(entry, null);
  }

  _put(entry, place) {
    this.draft.put(entry, place);
    this.draw();
    this.tell(place ? t("moved", { name: entry.name, place: placeText(this.board, place) }) : t("taken_out", { name: entry.name }));
  }

  _back() {
    this.draft.back();
    this.draw();
    this.tell("");
  }

  async _legal(entry, week) {
    const { conversation_id, version } = this.board;
    this._drawTray();
    const body = { conversation_id, version, items: this.draft.items, task_item_id: entry.task_item_id, week, locale };
    const { places } = await call("POST", "/agent/legal-places", { body });
    return places.map((place) => ({ ...place, weekday: weekday(place.day_of_week) }));
  }

  /** Does something once, however often the button is hit, and tells what came of it. */
  async _act(what) {
    if (this.acting) return;
    this.acting = true;
    this.toolbar.inert = true;
    try {
      await what();
    } catch (error) {
      this.tell(error.message, true);
    } finally {
      this.acting = false;
      this.toolbar.inert = false;
    }
  }

  async _stash() {
    const { conversation_id, version } = this.board;
    await call("POST", "/agent/schedule-state", { body: { conversation_id, version, items: this.draft.items } });
    await this._fresh(t("stashed"));
  }

  async _undo() {
    const { conversation_id, earlier } = this.board;
    await call("POST", "/agent/undo", { body: { conversation_id, version: earlier } });
    await this._fresh(t("undone"));
  }

  async _apply() {
    const { conversation_id } = this.board;
    const { data } = await call("POST", "/agent/act", { body: { conversation_id, tool: "apply_preview" } });
    await this._fresh(t("applied", { count: data.applied }));
  }

  async _fresh(text) {
    await this.load(this.board.conversation_id);
    this.tell(text);
    this.onStashed();
  }
}
