/** Where the student writes: Enter sends, Shift+Enter breaks the line; while a run works, its button stops it. */

import { button, fill, h } from "./dom.js";
import { t } from "./texts.js";

const LONGEST = 8000;

/** `say(text)` sends and throws where it was not taken; `stop()` cancels the run. */
export class Composer {
  constructor(form, { say, stop }) {
    Object.assign(this, { form, say, stop });
    this.text = h("textarea", { id: "say", rows: 2, maxLength: LONGEST });
    this.send = h("button", { type: "submit", className: "primary" });
    this.halt = button("", () => this.stop(), "danger", { hidden: true });
    this.told = h("p", { className: "told", role: "status" });
    fill(form, this.text, h("div", { className: "row" }, this.told, this.halt, this.send));
    form.addEventListener("submit", (event) => (event.preventDefault(), this.submit()));
    this.text.addEventListener("keydown", (event) => {
      // The Enter that chooses a word of an input method is no Enter.
      if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.submit();
    });
    this.label();
  }

  label() {
    this.text.placeholder = t("say_placeholder");
    this.text.setAttribute("aria-label", t("say_placeholder"));
    this.send.textContent = t("send");
    this.halt.textContent = t("stop");
  }

  /** Shows whether a run works: a new message waits, the run can be stopped. */
  working(state) {
    this.halt.hidden = state === "idle";
    this.send.disabled = state === "sending";
  }

  async submit(text = this.text.value) {
    if (!text.trim() || this.sending) return;
    this.sending = true;
    this.told.textContent = "";
    const kept = this.text.value;
    this.text.value = "";
    try {
      await this.say(text);
    } catch (error) {
      this.text.value = kept || text;
      this.told.textContent = error.message;
    } finally {
      this.sending = false;
    }
  }
}
