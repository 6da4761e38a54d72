/** The stream of a conversation: SSE over fetch, which takes a token and a body; it comes back by itself after a cut. */

import { Failure, envelope, send } from "./api.js";

const FIRST_WAIT = 500;
const LONGEST_WAIT = 15000;
/** The service sends something at least every 5 seconds; a line that is silent for so long is dead. */
const SILENCE = 20000;

/** What is read next, or an error once the line has been silent for too long. */
function nextOf(reader) {
  let timer;
  const silent = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("silent")), SILENCE);
  });
  return Promise.race([reader.read(), silent]).finally(() => clearTimeout(timer));
}

/** The frames of a response, `{id, data}` each, as they arrive. */
async function* frames(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await nextOf(reader);
      if (done) return;
      rest += value;
      for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
        const frame = { id: null, data: "" };
        for (const line of rest.slice(0, end).split("\n")) {
          if (line.startsWith("id:")) frame.id = Number(line.slice(3));
          else if (line.startsWith("data:")) frame.data += line.slice(5).trimStart();
        }
        rest = rest.slice(end + 2);
        if (frame.data) yield frame;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Follows one conversation at a time; `seq` is the last durable event that was seen. */
export class Stream {
  constructor({ onEvent, onState, onFailure }) {
    Object.assign(this, { onEvent, onState, onFailure });
    this.conversation = null;
    this.seq = 0;
    this.following = null;
  }

  /** Looks at a conversation of which everything up to `seq` is on the page already. */
  watch(conversation, seq) {
    this.leave();
    this.conversation = conversation;
    this.seq = seq;
  }

  /** Stops reading; the run goes on at the server. */
  leave() {
    this.following?.abort();
    this.following = null;
  }

  get busy() {
    return this.following !== null;
  }

  /** Sends a turn or an answer and follows what comes of it. Raises `Failure` where it was not taken. */
  async say(body) {
    this.leave();
    const mine = new AbortController();
    this.following = mine;
    this.onState("sending");
    try {
      const response = await send("POST", "/agent/chat", { body, signal: mine.signal });
      if (!response.ok) await envelope(response);
      this.conversation = response.headers.get("X-Conversation-ID");
      this._run(mine, response);
    } catch (error) {
      if (this.following === mine) this.leave();
      this.onState("idle");
      throw error;
    }
    return this.conversation;
  }

  /** Attaches to what goes on, if anything does. */
  attach() {
    if (this.busy || !this.conversation) return;
    const mine = new AbortController();
    this.following = mine;
    this._run(mine, null);
  }

  async _run(mine, first) {
    let wait = FIRST_WAIT;
    let response = first;
    while (this.following === mine) {
      try {
        response ??= await this._open(mine);
        this.onState("running");
        wait = FIRST_WAIT;
        if (await this._read(mine, response)) break;
      } catch (error) {
        if (this.following !== mine) return;
        if (error instanceof Failure && error.status < 500 && error.status !== 429) {
          this.onFailure(error);
          break;
        }
      }
      response = null;
      if (this.following !== mine) return;
      this.onState("waiting");
      await new Promise((resolve) => setTimeout(resolve, wait));
      wait = Math.min(wait * 2, LONGEST_WAIT);
    }
    if (this.following !== mine) return;
    this.following = null;
    this.onState("idle");
  }

  async _open(mine) {
    const path = `/agent/events?conversation_id=${encodeURIComponent(this.conversation)}`;
    const headers = { "Last-Event-ID": String(this.seq) };
    const response = await send("GET", path, { headers, signal: mine.signal });
    if (!response.ok) await envelope(response);
    return response;
  }

  /** Reads one response; true where the stream said that it is over. */
  async _read(mine, response) {
    for await (const { id, data } of frames(response)) {
      if (this.following !== mine || data === "[DONE]") return true;
      const chunk = JSON.parse(data);
      if (chunk.error) {
        this.onFailure(new Failure(200, chunk.error.code, chunk.error.message));
        continue;
      }
      if (id !== null) {
        if (id <= this.seq) continue;
        this.seq = id;
      }
      this.onEvent(chunk);
    }
    return false;
  }
}
