/** Texts of the page, in the language of the student, from the server's one catalogue. */

let texts = {};
export let locale = "zh";

/** The language chosen here before, else the browser's. */
export function preferredLocale() {
  const chosen = localStorage.getItem("newagent.locale");
  if (chosen === "zh" || chosen === "en") return chosen;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

/** Loads the texts of a language and says which one the document is in. */
export async function loadTexts(wanted) {
  const answer = await fetch(`texts/${wanted}.json`);
  texts = await answer.json();
  locale = wanted;
  document.documentElement.lang = wanted === "zh" ? "zh-CN" : "en";
}

/** The text of a key, the page's own first, with `{name}` filled in; an unknown key shows itself. */
export function t(key, values = {}) {
  const template = known(key, key);
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

/** The text of a key, or `otherwise` where the catalogue has none. */
export function known(key, otherwise) {
  return texts[`page.${key}`] ?? texts[key] ?? otherwise;
}

/** Fills in `data-text` and `data-label` of the elements that the document came with. */
export function labelDocument() {
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = t(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) {
    element.setAttribute("aria-label", t(element.dataset.label));
  }
}
