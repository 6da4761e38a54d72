/** The page: the chat on one side, the timetable on the other, joined by one conversation. */

import { call, envelope, onTokenWanted, takeTokenFromAddress } from "./api.js";
import { Board } from "./board.js";
import { openClasses } from "./classes.js";
import { Composer } from "./composer.js";
import { openConversations } from "./conversations.js";
import { button, fill, h } from "./dom.js";
import { ofChunk, ofRow } from "./events.js";
import { acceptDrops, openImport } from "./imports.js";
import { askToken, openSettings } from "./settings.js";
import { Stream } from "./stream.js";
import { labelDocument, loadTexts, preferredLocale, t } from "./texts.js";
import { Timeline } from "./timeline.js";
import { openWishes } from "./wishes.js";

const CHANGES_BOARD = new Set(["schedule_updated", "schedule_completed"]);
const at = (id) => document.getElementById(id);

/** Joins the parts. It holds which conversation is on the page, and nothing else. */
class Page {
  constructor() {
    this.tabs = new BroadcastChannel("newagent");
    this.timeline = new Timeline(at("timeline"), {
      answer: (card, resume) => this.answer(card, resume),
      onOpen: (cards) => this.board.propose(cards.find((card) => card.kind === "write")?.changes),
    });
    this.stream = new Stream({
      onEvent: (chunk) => this.take(ofChunk(chunk)),
      onState: (state) => this.progress(state),
      onFailure: (failure) => this.fail(failure),
    });
    this.composer = new Composer(at("composer"), { say: (text) => this.say(text), stop: () => this.stop() });
    this.board = new Board(
      { toolbar: at("toolbar"), notice: at("notice"), grid: at("grid"), tray: at("tray") },
      { onStashed: () => this.refresh() },
    );
  }

  get conversation() {
    return new URLSearchParams(location.search).get("c");
  }

  async start() {
    this.menu();
    acceptDrops((file) => this.importFile(file));
    this.tabs.addEventListener("message", ({ data }) => data === this.conversation && this.catchUp());
    addEventListener("popstate", () => this.show(this.conversation));
    addEventListener("focus", () => this.catchUp());
    addEventListener("online", () => this.catchUp());
    at("chat").addEventListener("focusin", () => this.side("chat"));
    await this.tellModel();
    await this.show(this.conversation);
  }

  menu() {
    fill(
      at("menu"),
      button(t("conversations"), () => openConversations({ current: this.conversation, choose: (id) => this.go(id) })),
      button(t("import"), () => this.importFile(null)),
      button(t("task_classes"), () => openClasses({ board: this.board.board, changed: () => this.reloadBoard() })),
      button(t("wishes"), () => this.wishes()),
      button(t("settings"), () =>
        openSettings({ model: this.model, setLocale, conversation: this.conversation }),
      ),
    );
    fill(
      at("tabs"),
      button(t("chat"), () => this.side("chat")),
      button(t("timetable"), () => this.side("board")),
    );
    this.side("chat");
  }

  /** On a narrow screen one side is seen at a time. */
  side(name) {
    document.body.dataset.side = name;
    [...at("tabs").children].forEach((tab, index) => tab.setAttribute("aria-pressed", String((index === 1) === (name === "board"))));
  }

  async tellModel() {
    const { data } = await envelope(await fetch("readyz"));
    this.model = { name: data.model, rules: data.is_rule_model };
    const badge = at("model");
    badge.hidden = false;
    badge.textContent = this.model.rules ? t("rule_model_short") : this.model.name;
    badge.title = this.model.rules ? t("rule_model", { name: this.model.name }) : this.model.name;
  }

  /** Goes to a conversation, or with null to a new one. */
  go(id) {
    const address = new URL(location.href);
    if (id) address.searchParams.set("c", id);
    else address.searchParams.delete("c");
    if (address.href !== location.href) history.pushState(null, "", address);
    return this.show(id);
  }

  async show(id) {
    this.stream.watch(id, 0);
    this.timeline.clear();
    this.board.propose([]);
    try {
      if (id) {
        const rows = await call("GET", `/agent/conversation-timeline?conversation_id=${encodeURIComponent(id)}`);
        if (this.conversation !== id) return;
        this.stream.watch(id, rows.at(-1)?.seq ?? 0);
        this.timeline.load(rows.map(ofRow));
        this.stream.attach();
      } else {
        this.hello();
      }
      await this.reloadBoard();
    } catch (error) {
      this.fail(error);
    }
    document.title = "newagent";
  }

  hello() {
    const tries = ["try_place", "try_wish", "try_free"].map((key) => button(t(key), () => this.composer.submit(t(key))));
    fill(at("timeline"), h("li", { className: "hello" }, h("p", {}, t("hello")), h("div", { className: "row" }, ...tries)));
  }

  /** Sends what the student wrote. */
  async say(message) {
    if (!this.conversation) at("timeline").querySelector(".hello")?.remove();
    await this._send({ conversation_id: this.conversation ?? undefined, message });
  }

  /** Sends what the student decided on a card. */
  answer(card, resume) {
    const extra = { resume: { interaction_id: card.interaction_id, ...resume } };
    return this._send({ conversation_id: this.conversation, message: "", extra });
  }

  async _send(body) {
    const id = await this.stream.say(body);
    if (id !== this.conversation) {
      const address = new URL(location.href);
      address.searchParams.set("c", id);
      history.replaceState(null, "", address);
    }
  }

  async stop() {
    if (!this.conversation) return;
    await call("POST", "/agent/cancel", { body: { conversation_id: this.conversation } }).catch((error) => this.fail(error));
    this.catchUp();
  }

  /** One event of the stream. */
  take(event) {
    this.timeline.take(event);
    if (event.kind === "status") this.status = event;
    if (event.kind === "status") this.progress("running");
    if (CHANGES_BOARD.has(event.kind)) this.reloadBoard();
  }

  progress(state) {
    this.composer.working(state);
    const { round, step } = this.status ?? {};
    const told = { idle: "", sending: t("sending"), waiting: t("reconnecting"), running: t("working", { round: round ?? 1, step: step ?? 1 }) };
    at("progress").textContent = told[state];
    if (state !== "idle") return;
    this.status = null;
    if (this.conversation) this.tabs.postMessage(this.conversation);
  }

  /** Something may have happened elsewhere: another tab, another device. */
  catchUp() {
    if (this.conversation && !document.hidden) this.stream.attach();
  }

  /** After a change of the student's own. */
  refresh() {
    this.catchUp();
    this.tabs.postMessage(this.conversation);
  }

  async reloadBoard() {
    try {
      await this.board.load(this.conversation);
    } catch (error) {
      // A conversation whose timetable is not loaded yet, or one that is gone.
      if (error.code !== "no_preview") throw error;
      await this.board.load(null);
    }
    return this.board.board;
  }

  wishes() {
    const { board } = this.board;
    if (board.version === null) this.board.tell(t("wishes_need_preview"));
    else openWishes({ board, changed: async () => (this.refresh(), this.reloadBoard()) });
  }

  importFile(file) {
    openImport({ file, semester: this.board.board?.semester ?? null, done: () => this.reloadBoard() });
  }

  fail(failure) {
    at("progress").textContent = failure.message;
  }
}

function setLocale(wanted) {
  localStorage.setItem("newagent.locale", wanted);
  location.reload();
}

await loadTexts(preferredLocale());
labelDocument();
takeTokenFromAddress();
onTokenWanted(askToken);
await new Page().start();
document.body.dataset.ready = "yes";
