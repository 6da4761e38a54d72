/** Settings: the language of the page, the model that thinks, the token. And the dialog that asks for a token. */

import { call } from "./api.js";
import { openDialog } from "./dialog.js";
import { button, h } from "./dom.js";
import { locale, t } from "./texts.js";

/** Opens the settings; `model` is `{name, rules}`, `setLocale` loads the page anew in a language. */
export function openSettings({ model, setLocale, conversation }) {
  return openDialog(t("settings"), (body) => {
    const language = h("select", { onchange: () => setLocale(language.value) });
    for (const [value, name] of [["zh", "中文"], ["en", "English"]]) {
      language.append(h("option", { value, selected: value === locale }, name));
    }
    const told = model.rules ? t("rule_model", { name: model.name }) : model.name;
    const parts = h("dl", { className: "stats" });
    body.append(
      h("div", { className: "fields" }, h("label", {}, h("span", {}, t("language")), language)),
      h("h3", {}, t("model")),
      h("p", {}, told),
      parts,
    );
    if (conversation) usage(parts, conversation);
  });
}

async function usage(parts, conversation) {
  const stats = await call("GET", `/agent/context-stats?conversation_id=${encodeURIComponent(conversation)}`).catch(() => null);
  for (const [name, value] of Object.entries(stats?.parts ?? {})) {
    parts.append(h("dt", {}, t(`part.${name}`)), h("dd", {}, t("tokens", { count: value })));
  }
}

/** Asks for a token, as long as it takes; an empty text where the student gives none. */
export async function askToken() {
  let token = "";
  await openDialog(t("token_wanted"), (body, close) => {
    const input = h("input", { type: "password", autocomplete: "off", required: true, ariaLabel: t("token") });
    const submit = (event) => {
      event.preventDefault();
      token = input.value.trim();
      close();
    };
    body.append(
      h("p", {}, t("token_words")),
      h("form", { className: "row", onsubmit: submit }, input, h("button", { type: "submit", className: "primary" }, t("continue"))),
      button(t("back"), close),
    );
  });
  return token;
}
