/** The cards that ask: a plan or a write to confirm, a question to answer. A card that is answered tells how. */

import { costBar } from "./chart.js";
import { button, freshId, h } from "./dom.js";
import { schemaForm } from "./form.js";
import { t } from "./texts.js";

const MANY = 8;

/** What all cards have in common: `open`, `close(action, source)`, `refuse(message)`. */
class Card {
  constructor(told, open) {
    this.told = told;
    this.open = open;
    this.state = h("p", { className: "state", role: "status" });
    this.actions = h("div", { className: "actions" });
    this.element = h("article", { className: open ? "open" : "closed" });
  }

  /** Buttons are off between a click and what comes of it, so that a second click is no second answer. */
  async settle(send) {
    if (!this.open || this.sending) return;
    this.sending = true;
    this.actions.inert = true;
    this.state.textContent = t("sending");
    try {
      await send();
      this.state.textContent = "";
    } catch (error) {
      this.refuse(error.message);
    } finally {
      this.sending = false;
      this.actions.inert = !this.open;
    }
  }

  refuse(message) {
    this.state.textContent = message;
    this.state.classList.add("refused");
  }

  close(action, source) {
    this.open = false;
    this.element.className = `closed ${action}`;
    this.actions.remove();
    this.state.classList.remove("refused");
    this.state.textContent = `${t(`view.action.${action}`)}${source ? ` · ${t(`view.source.${source}`)}` : ""}`;
  }
}

function changeList(changes) {
  const rows = changes.map((change) => h("li", {}, change.text));
  const list = h("ul", { className: "changes" }, ...rows.slice(0, MANY));
  if (rows.length <= MANY) return [list];
  const rest = h("ul", { className: "changes" }, ...rows.slice(MANY));
  return [list, h("details", {}, h("summary", {}, t("more", { count: rows.length - MANY })), rest)];
}

function expiry(at) {
  return h("p", { className: "expiry" }, t("expires", { at: new Date(at).toLocaleString(document.documentElement.lang) }));
}

/** A plan, whose steps stand above it, or a write. `answer(resume)` sends what the student decided and throws where it was not taken. */
export function confirmCard(told, open, answer) {
  const card = new Card(told, open);
  const id = freshId("card");
  card.element.setAttribute("aria-labelledby", id);
  card.element.append(h("h3", { id }, told.title));
  if (told.risk) card.element.append(h("p", { className: "risk" }, t(`risk.${told.risk}`)));
  card.element.append(...changeList(told.changes ?? []));
  if (told.before && told.after) card.element.append(costBar(told.before, told.after));
  card.element.append(card.state);
  if (!open) return card;
  const send = (resume) => card.settle(() => answer(resume));
  const reason = h("input", { type: "text", maxLength: 2000, id: freshId("reason"), placeholder: t("reason") });
  reason.setAttribute("aria-label", t("reason"));
  const may = (option) => (told.options ?? []).includes(option);
  const rows = [button(t("approve"), () => send({ action: "approve" }), "primary")];
  if (may("always_allow")) {
    rows.push(button(t("always_allow"), () => send({ action: "approve", always_allow: true })));
  }
  if (told.kind === "write" && told.arguments_schema) rows.push(editButton(card, send));
  const reject = () => send({ action: "reject", message: reason.value.trim() || undefined });
  const stop = button(t("stop"), () => send({ action: "cancel" }), "danger");
  const refuse = h("form", { className: "reject", onsubmit: (event) => (event.preventDefault(), reject()) });
  refuse.append(reason, h("button", { type: "submit" }, t("reject")));
  card.actions.append(h("div", { className: "row" }, ...rows, stop), refuse, expiry(told.expires_at));
  card.element.append(card.actions);
  return card;
}

function editButton(card, send) {
  const { told } = card;
  const open = button(t("edit"), () => {
    const form = schemaForm(told.arguments_schema, told.arguments, (changed) => send({ action: "edit", arguments: changed }));
    const place = h("div", { className: "edit" }, form, button(t("back"), () => place.replaceWith(open)));
    open.replaceWith(place);
    form.querySelector("input, select, textarea")?.focus();
  });
  return open;
}

/** A question with its options as buttons; an answer of one's own can be typed below, as any message. */
export function questionCard(told, open, answer) {
  const card = new Card(told, open);
  const id = freshId("card");
  card.element.setAttribute("aria-labelledby", id);
  card.element.append(h("h3", { id }, told.question), card.state);
  const options = told.options ?? [];
  if (!open) {
    card.element.append(h("ul", { className: "changes" }, ...options.map((option) => h("li", {}, option))));
    return card;
  }
  const send = (message) => card.settle(() => answer({ action: "reply", message }));
  const own = h("input", { type: "text", maxLength: 8000, placeholder: t("own_answer") });
  own.setAttribute("aria-label", t("own_answer"));
  const form = h("form", { className: "reject", onsubmit: (event) => (event.preventDefault(), own.value.trim() && send(own.value)) });
  form.append(own, h("button", { type: "submit" }, t("reply")));
  const stop = button(t("stop"), () => card.settle(() => answer({ action: "cancel" })), "danger");
  card.actions.append(h("div", { className: "row" }, ...options.map((option) => button(option, () => send(option))), stop), form);
  card.element.append(card.actions);
  return card;
}
