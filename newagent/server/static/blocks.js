/** Text that arrives in pieces: a block a part of a round, shown while it grows and gone once its durable text is there. */

import { h } from "./dom.js";
import { t } from "./texts.js";

/** Blocks that are being written, by block id. Offsets count characters, as the service does. */
export class LiveBlocks {
  constructor(place) {
    this.place = place;
    this.blocks = new Map();
  }

  /** Takes a piece; one of a wrong offset is dropped until the whole block comes as a `replace`. */
  take({ kind, block_id: id, text, offset = 0, display_mode: mode }) {
    let block = this.blocks.get(id);
    if (mode === "replace") {
      if (!text) return this._remove(id);
      block ??= this._open(id, kind);
      block.characters = 0;
      block.text.textContent = "";
    } else if (!block) {
      if (offset !== 0) return;
      block = this._open(id, kind);
    }
    if (mode !== "replace" && offset !== block.characters) return;
    block.text.append(text);
    block.characters += [...text].length;
  }

  /** Removes what the durable event of a round now tells whole; null removes all. */
  settle(kind = null) {
    for (const [id, block] of this.blocks) if (kind === null || block.kind === kind) this._remove(id);
  }

  _open(id, kind) {
    const text = h("div", { className: "text" });
    const element =
      kind === "reasoning_text"
        ? h("li", { className: "reasoning live" }, h("details", { open: true }, h("summary", {}, t("reasoning")), text))
        : h("li", { className: "said assistant live" }, text);
    const block = { kind, element, text, characters: 0 };
    this.blocks.set(id, block);
    this.place.append(element);
    return block;
  }

  _remove(id) {
    this.blocks.get(id)?.element.remove();
    this.blocks.delete(id);
  }
}
