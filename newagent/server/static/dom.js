/** Building elements. Text is always text: nothing here parses HTML but `fragment`, which the server has cleaned. */

/** An element: `properties` are DOM properties, `on…` listeners, `data` and `aria` tables of attributes. */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "aria") for (const [key, told] of Object.entries(value)) element.setAttribute(`aria-${key}`, told);
    else if (name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Nodes of HTML that the server has rendered from Markdown and cleaned; the page's policy forbids scripts besides. */
export function fragment(html) {
  return [...new DOMParser().parseFromString(html, "text/html").body.childNodes];
}

/** A button with a text; `kind` is primary, plain or danger. */
export function button(text, onclick, kind = "plain", more = {}) {
  return h("button", { type: "button", className: kind, onclick, ...more }, text);
}

/** Replaces what an element holds. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

let drawn = 0;

/** An id that no other element of the page has. */
export function freshId(prefix) {
  drawn += 1;
  return `${prefix}-${drawn}`;
}
