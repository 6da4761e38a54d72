/** Dialogs: one native element each, closed by its button, by Escape or by a click beside it. */

import { button, fill, freshId, h } from "./dom.js";
import { t } from "./texts.js";

/** Opens a dialog with a title; `build(body, close)` fills it. Gives a promise that ends when it is closed. */
export function openDialog(title, build) {
  const id = freshId("dialog");
  const dialog = h("dialog", { aria: { labelledby: id } });
  const body = h("div", { className: "body" });
  const close = () => dialog.close();
  dialog.append(
    h("header", {}, h("h2", { id }, title), button("×", close, "plain", { ariaLabel: t("close"), title: t("close") })),
    body,
  );
  dialog.addEventListener("click", (event) => event.target === dialog && close());
  document.getElementById("dialogs").append(dialog);
  build(body, close);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve();
    });
  });
}

/** Does something for a dialog; a failure is told in it. True where it went well. */
export async function attempt(place, what) {
  const told = place.querySelector(":scope > .told") ?? place.appendChild(h("p", { className: "told", role: "status" }));
  told.textContent = t("sending");
  try {
    await what();
    told.textContent = "";
    return true;
  } catch (error) {
    const faults = (error.data?.faults ?? []).map((one) => (typeof one === "string" ? one : `${one.path}: ${one.message}`));
    fill(told, h("span", { className: "refused" }, error.message), ...faults.map((one) => h("span", { className: "fault" }, one)));
    return false;
  }
}

/** Asks for yes or no; true for yes. */
export async function sure(question, yes) {
  let answer = false;
  await openDialog(question, (body, close) => {
    body.append(
      h("div", { className: "row" }, button(yes, () => ((answer = true), close()), "danger"), button(t("back"), close)),
    );
  });
  return answer;
}
