/** The list of conversations: go to one, rename it, delete it. */

import { call } from "./api.js";
import { attempt, openDialog, sure } from "./dialog.js";
import { button, fill, h } from "./dom.js";
import { locale, t } from "./texts.js";

/** Opens the list; `choose(id)` goes to a conversation, null begins a new one. `current` is on the page now. */
export function openConversations({ current, choose }) {
  return openDialog(t("conversations"), (body, close) => {
    const list = h("ul", { className: "list" });
    const go = (id) => (close(), choose(id));
    body.append(h("div", { className: "row" }, button(t("new_conversation"), () => go(null), "primary")), list);
    const load = () => attempt(body, async () => fill(list, ...(await rows())));
    const rows = async () => {
      const all = await call("GET", "/agent/conversations");
      return all.length ? all.map((one) => row(one, { current, go, load, body, choose })) : [h("li", {}, t("none_yet"))];
    };
    load();
  });
}

function row(one, { current, go, load, body, choose }) {
  const id = one.conversation_id;
  const title = one.title || t("untitled");
  const when = new Date(one.updated_at ?? one.created_at).toLocaleString(locale);
  const remove = async () => {
    if (!(await sure(t("delete_conversation", { title }), t("delete")))) return;
    const gone = await attempt(body, () => call("DELETE", `/agent/conversations/${encodeURIComponent(id)}`));
    if (gone && id === current) choose(null);
    if (gone) load();
  };
  const rename = (event) => {
    const input = h("input", { type: "text", value: one.title ?? "", maxLength: 200, ariaLabel: t("title") });
    const save = (submitted) => {
      submitted.preventDefault();
      attempt(body, () => call("PATCH", `/agent/conversations/${encodeURIComponent(id)}`, { body: { title: input.value } })).then(
        (done) => done && load(),
      );
    };
    const form = h("form", { className: "row", onsubmit: save }, input, h("button", { type: "submit" }, t("save")));
    event.target.closest("li").replaceChildren(form);
    input.focus();
  };
  const open = button(title, () => go(id), "link", { disabled: id === current });
  return h("li", {}, open, h("small", {}, when), button(t("rename"), rename), button(t("delete"), remove, "danger"));
}
