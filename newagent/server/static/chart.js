/** The cost before and after as two bars; lower is better. */

import { h } from "./dom.js";
import { t } from "./texts.js";

const NS = "http://www.w3.org/2000/svg";
const WIDTH = 160;

function bar(y, share, name) {
  const rect = document.createElementNS(NS, "rect");
  for (const [key, value] of Object.entries({ x: 0, y, rx: 2, height: 8, width: Math.max(2, share * WIDTH) })) {
    rect.setAttribute(key, value);
  }
  rect.setAttribute("class", name);
  return rect;
}

/** `before` and `after` are `{cost, pending}` of the judge. */
export function costBar(before, after) {
  const most = Math.max(before.cost, after.cost, 1);
  const told = t("cost", { before: before.cost, after: after.cost, pending: after.pending });
  const picture = document.createElementNS(NS, "svg");
  picture.setAttribute("viewBox", `0 0 ${WIDTH} 22`);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", told);
  picture.append(bar(1, before.cost / most, "before"), bar(13, after.cost / most, "after"));
  return h("figure", { className: "cost" }, picture, h("figcaption", {}, told));
}
