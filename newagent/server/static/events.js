/** Events in one shape, whether they come from the stream or from the stored timeline. */

/** A chunk of the stream: `{kind, seq?, content, role, …payload}`; an ephemeral one has its `text` and `block_id`. */
export function ofChunk(chunk) {
  const delta = chunk.choices[0]?.delta ?? {};
  const text = delta.reasoning_content ?? delta.content ?? "";
  return { text, ...chunk.extra };
}

/** A row of the timeline. */
export function ofRow({ kind, seq, role, content, payload, created_at }) {
  return { ...payload, kind, seq, role, content, created_at };
}

/** The interaction that an event opens, null for others. */
export function opens(event) {
  if (event.kind === "confirm_request") return event.confirm;
  if (event.kind === "interrupt") return { ...event, kind: "question" };
  return null;
}

/** Which interactions of these events are still open, by their id, the order kept. */
export function openCards(events) {
  const open = new Map();
  for (const event of events) {
    const card = opens(event);
    if (card) open.set(card.interaction_id, card);
    if (event.kind === "confirm_result") open.delete(event.interaction_id);
    if (event.kind === "finish") open.clear();
  }
  return open;
}
