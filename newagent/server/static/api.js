/** Calls to the service: the envelope taken off, failures as `Failure` with their stable code, the token asked for. */

import { known } from "./texts.js";

const API = "api/v1";
let token = sessionStorage.getItem("newagent.token") ?? "";
let askForToken = async () => "";

/** An answer that is no success. `code` is the stable name, `data` what came with it. */
export class Failure extends Error {
  constructor(status, code, message, data = {}) {
    super(known(`error.${code}`, message));
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

/** Tells how a missing or expired token is got; the function gives the new one, or an empty text. */
export function onTokenWanted(ask) {
  askForToken = ask;
}

/** Takes a token that came with the address, once, and removes it from there. */
export function takeTokenFromAddress() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!found) return;
  keepToken(found);
  history.replaceState(null, "", location.pathname + location.search);
}

function keepToken(fresh) {
  token = fresh;
  sessionStorage.setItem("newagent.token", fresh);
}

/** One request. A 401 asks for a token, once, and tries again. Gives the response whole, whatever its status. */
export async function send(method, path, { body, form, headers = {}, signal, again = true } = {}) {
  const sent = { ...headers };
  if (token) sent.Authorization = `Bearer ${token}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  const response = await fetch(`${API}${path}`, {
    method,
    headers: sent,
    body: body !== undefined ? JSON.stringify(body) : form,
    signal,
    cache: "no-store",
  });
  if (response.status === 401 && again) {
    const fresh = await askForToken();
    if (fresh) {
      keepToken(fresh);
      return send(method, path, { body, form, headers, signal, again: true });
    }
  }
  return response;
}

/** One request whose answer is the envelope; gives its data. Raises `Failure`. */
export async function call(method, path, options = {}) {
  const response = await send(method, path, options);
  return (await envelope(response)).data;
}

/** The envelope of a response. Raises `Failure` where it tells one, or where there is none. */
export async function envelope(response) {
  let told;
  try {
    told = await response.json();
  } catch {
    throw new Failure(response.status, "no_answer", response.statusText);
  }
  if (!response.ok) throw new Failure(response.status, told.data?.error_code ?? told.status, told.info, told.data);
  return told;
}

/** A file to keep, such as the calendar: fetched with the token, then handed to the browser. */
export async function download(path, name) {
  const response = await send("GET", path);
  if (!response.ok) await envelope(response);
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
