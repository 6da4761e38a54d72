/** Moving a block: by pointer, by tap and tap, or by keys. What is legal is asked of the service, for one week at a time. */

import { h } from "./dom.js";
import { t } from "./texts.js";

const FAR = 6;
const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** `legal(entry, week)` gives `[{day, start, end, ok, message}]`; `drop(entry, place)` takes a legal place. */
export class Moving {
  constructor(grid, { legal, drop, tell, week }) {
    Object.assign(this, { grid, legal, drop, tell, week });
    this.entry = null;
    this.places = new Map();
    document.addEventListener("keydown", (event) => event.key === "Escape" && this.cancel());
  }

  /** Gives a block its listeners. */
  decorate(block, entry) {
    block.addEventListener("click", () => {
      if (this.dragged) return;
      if (this.entry?.id === entry.id) this.cancel();
      else this.pick(entry);
    });
    block.addEventListener("pointerdown", (event) => this._press(event, block, entry));
  }

  /** Takes an entry up and shows where it may go in the week on show. */
  async pick(entry) {
    this.entry = entry;
    this.tell(t("picked", { name: entry.name }));
    await this.show();
    this.grid.element.querySelector(".target")?.focus();
  }

  /** Shows the places of the picked entry, after a week was leafed to as well. */
  async show() {
    const { entry } = this;
    this._clear();
    if (!entry) return;
    let places;
    try {
      places = await this.legal(entry, this.week());
    } catch (error) {
      this.entry = null;
      this.tell(error.message);
      return;
    }
    if (this.entry !== entry) return;
    this.places = new Map(places.map((place) => [`${place.day}:${place.start}`, place]));
    this.grid.element.querySelector(`.block[data-id="${entry.id}"]`)?.classList.add("picked");
    for (const place of places) if (place.ok) this._target(place);
  }

  cancel() {
    if (!this.entry) return;
    this.entry = null;
    this._clear();
    this.tell("");
  }

  _clear() {
    for (const target of this.grid.element.querySelectorAll(".target")) target.remove();
    for (const block of this.grid.element.querySelectorAll(".picked")) block.classList.remove("picked");
    this.places.clear();
  }

  _target(place) {
    const cell = this.grid.cell(place.day, place.start);
    if (!cell) return;
    const label = t("put_here", { start: place.start, end: place.end, day: place.weekday });
    const target = h("button", {
      type: "button",
      className: "target",
      ariaLabel: label,
      title: label,
      onclick: () => this._drop(place),
      onkeydown: (event) => this._arrow(event, place),
    });
    Object.assign(target.dataset, { day: place.day, start: place.start });
    Object.assign(target.style, { gridColumn: cell.style.gridColumn, gridRow: cell.style.gridRow });
    cell.parentElement.append(target);
  }

  /** The nearest legal place in the direction of an arrow key. */
  _arrow(event, place) {
    const [across, down] = ARROWS[event.key] ?? [0, 0];
    if (!across && !down) return;
    event.preventDefault();
    const away = (other) => {
      const [x, y] = [other.day - place.day, other.start - place.start];
      const ahead = across ? x * across : y * down;
      return ahead > 0 && (across || x === 0) ? ahead * 100 + Math.abs(y) : Infinity;
    };
    const legal = [...this.places.values()].filter((other) => other.ok && away(other) < Infinity);
    legal.sort((one, two) => away(one) - away(two));
    const next = legal[0];
    if (next) this.grid.element.querySelector(`.target[data-day="${next.day}"][data-start="${next.start}"]`)?.focus();
  }

  _drop(place) {
    const { entry } = this;
    this.entry = null;
    this._clear();
    this.drop(entry, { day: place.day, start: place.start, end: place.end });
  }

  _press(event, block, entry) {
    this.dragged = false;
    if (event.button !== 0 || event.pointerType === "touch") return;
    const begun = { x: event.clientX, y: event.clientY };
    const height = block.offsetHeight / (entry.end - entry.start + 1 || 1);
    const grabbed = Math.floor((event.clientY - block.getBoundingClientRect().top) / height);
    let shadow = null;
    const move = (moved) => {
      if (!shadow && Math.hypot(moved.clientX - begun.x, moved.clientY - begun.y) < FAR) return;
      if (!shadow) {
        shadow = this._shadow(block);
        this.dragged = true; // the click that follows is none
        this.dragging = this.pick(entry);
      }
      shadow.style.translate = `${moved.clientX - begun.x}px ${moved.clientY - begun.y}px`;
    };
    const end = async (ended) => {
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", end);
      document.removeEventListener("pointercancel", end);
      if (!shadow) return;
      shadow.remove();
      await this.dragging;
      if (this.entry?.id === entry.id) this._release(ended, grabbed);
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", end);
    document.addEventListener("pointercancel", end);
  }

  _shadow(block) {
    const shadow = block.cloneNode(true);
    const { left, top, width, height } = block.getBoundingClientRect();
    shadow.className += " shadow";
    Object.assign(shadow.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    document.body.append(shadow);
    return shadow;
  }

  _release(event, grabbed) {
    const under = document.elementsFromPoint(event.clientX, event.clientY).find((one) => one.classList.contains("cell"));
    if (!under?.dataset.day || event.type === "pointercancel") return this.cancel();
    const place = this.places.get(`${under.dataset.day}:${Number(under.dataset.section) - grabbed}`);
    if (place?.ok) return this._drop(place);
    this.cancel();
    this.tell(place?.message ?? t("no_place"), true);
  }
}
