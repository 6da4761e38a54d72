/** The conversation as a list in true order: words, reasoning, tool cards, plans, cards, outcomes. */

import { LiveBlocks } from "./blocks.js";
import { confirmCard, questionCard } from "./cards.js";
import { fragment, h } from "./dom.js";
import { openCards, opens } from "./events.js";
import { known, t } from "./texts.js";

const CONTROLS = new Set(["plan_done", "next_step", "done", "ask_user"]);
const MARKS = { done: "✓", blocked: "✗", failed: "!" };

/** Shows events; `answer(card, resume)` is called when the student decides. */
export class Timeline {
  constructor(list, { answer, onOpen }) {
    this.list = list;
    this.answer = answer;
    this.onOpen = onOpen;
    this.clear();
  }

  /** An empty page, before another conversation. */
  clear() {
    this.list.replaceChildren();
    this.live = new LiveBlocks(this.list);
    this.events = [];
    this.cards = new Map();
  }

  /** Shows stored events at once. */
  load(events) {
    this.clear();
    const open = openCards(events);
    const shown = document.createDocumentFragment();
    for (const event of events) {
      this.events.push(event);
      this._settleCards(event, open);
      const node = this._node(event, open);
      if (node) shown.append(node);
    }
    this.list.append(shown);
    this._tellOpen();
    this._toEnd(true);
  }

  /** Shows one event of the stream, durable or not. */
  take(event) {
    const following = this._atEnd();
    if (event.seq === undefined) {
      if (event.block_id) this.live.take(event);
    } else {
      this._settleLive(event.kind);
      this.events.push(event);
      const open = new Map([...this.cards].filter(([, card]) => card.open).map(([id, card]) => [id, card.told]));
      const card = opens(event);
      if (card) open.set(card.interaction_id, card);
      this._settleCards(event, open);
      const node = this._node(event, open);
      if (node) this.list.append(node);
      this._tellOpen();
    }
    if (following) this._toEnd();
  }

  /** The cards that wait, oldest first. */
  get open() {
    return [...this.cards.values()].filter((card) => card.open).map((card) => card.told);
  }

  /** Lets an open card tell why an answer was not taken. */
  refuse(interactionId, message) {
    this.cards.get(interactionId)?.refuse(message);
  }

  _settleLive(kind) {
    if (kind === "reasoning") this.live.settle("reasoning_text");
    else if (kind === "assistant_text") this.live.settle("assistant_text");
    else if (kind === "finish" || kind === "user_text") this.live.settle();
  }

  _settleCards(event, open) {
    if (event.kind === "confirm_result") {
      this.cards.get(event.interaction_id)?.close(event.action, event.source);
      open.delete(event.interaction_id);
    } else if (event.kind === "finish") {
      for (const card of this.cards.values()) if (card.open) card.close("expire", "expiry");
    }
  }

  _tellOpen() {
    this.onOpen(this.open);
  }

  _node(event, open) {
    const make = this[`_${event.kind}`];
    return make ? make.call(this, event, open) : null;
  }

  _user_text({ content }) {
    return h("li", { className: "said user" }, h("div", { className: "text" }, content));
  }

  _assistant_text({ content, html }) {
    const text = html ? h("div", { className: "text rich" }, ...fragment(html)) : h("div", { className: "text" }, content);
    return h("li", { className: "said assistant" }, text);
  }

  _reasoning({ content }) {
    const body = h("details", {}, h("summary", {}, t("reasoning")), h("div", { className: "text" }, content));
    return h("li", { className: "reasoning" }, body);
  }

  _plan({ steps }) {
    const list = h("ol", {}, ...steps.map((step) => h("li", {}, step.content)));
    return h("li", { className: "steps" }, h("h3", {}, t("plan")), list);
  }

  _tool_result({ tool, content }) {
    const name = CONTROLS.has(tool.name) ? "" : known(`tool.${tool.name}`, tool.name);
    const summary = (content || tool.summary).startsWith("{") ? t("judged") : content || tool.summary.split("\n", 1)[0];
    const head = h(
      "summary",
      {},
      h("span", { className: `mark ${tool.status}`, aria: { label: t(`status.${tool.status}`) } }, MARKS[tool.status] ?? "!"),
      h("b", {}, name),
      h("span", { className: "summary" }, summary),
    );
    const more = h("pre", {}, tool.arguments_preview, "\n", tool.summary);
    return h("li", { className: "tool" }, h("details", {}, head, more));
  }

  _confirm_request({ confirm }, open) {
    return this._card(confirm, open, confirmCard);
  }

  _interrupt(event, open) {
    return this._card(opens(event), open, questionCard);
  }

  _card(told, open, make) {
    const card = make(told, open.has(told.interaction_id), (resume) => this.answer(told, resume));
    this.cards.set(told.interaction_id, card);
    return h("li", { className: `card ${told.kind}` }, card.element);
  }

  _confirm_result({ action, source, interaction_id: id }) {
    if (id && this.cards.has(id)) return null;
    return h("li", { className: "note" }, t(`view.action.${action}`), " · ", t(`view.source.${source}`));
  }

  _finish({ outcome, content }) {
    if (outcome.code === "replied") return null;
    const told = h("span", { className: "text" }, content);
    return h("li", { className: `outcome ${outcome.kind}` }, h("b", {}, t(`outcome.${outcome.kind}`)), told);
  }

  _preview_skipped() {
    return h("li", { className: "note" }, t("preview_skipped"));
  }

  _context_compact() {
    return h("li", { className: "note" }, t("context_compact"));
  }

  _atEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.list;
    return scrollHeight - scrollTop - clientHeight < 80;
  }

  _toEnd(at_once = false) {
    this.list.scrollTo({ top: this.list.scrollHeight, behavior: at_once ? "instant" : "auto" });
  }
}
