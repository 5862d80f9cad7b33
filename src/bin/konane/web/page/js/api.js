// Client of the program's API, below api/v1.

/**
 * An error answer with the program's message. Status 0: there was no answer. `search` is the id of a running search
 * that prevents the request.
 */
export class ApiError extends Error {
  constructor(message, status, search) {
    super(message);
    this.status = status;
    this.search = search;
  }
}

const GONE = "The program does not respond. If it was stopped, start konane explore again with "
  + "the same port, or use the address that it prints.";

let reach = () => {};

/** Registers a callback, which receives true when the program answers and false when it does not. */
export function onReach(listener) {
  reach = listener;
}

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(url(path), options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    reach(false);
    throw new ApiError(GONE, 0);
  }
  reach(true);
  if (answer.status === 204) return null;
  let body;
  try {
    body = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(`The program's answer cannot be read (status ${answer.status}).`,
      answer.status);
  }
  if (!answer.ok) throw new ApiError(body.error ?? `Status ${answer.status}.`, answer.status, body.search);
  return body;
}

/**
 * Returns the address of a path of the API. It is relative to the page, so that it is valid behind a proxy that adds
 * a prefix to all paths.
 */
export function url(path) {
  return `api/v1/${path}`;
}

/** Returns a path with parameters. Parameters without a value are omitted. */
export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== null && value !== "") query.set(name, value);
  }
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

export function get(path, parameters, signal) {
  return request(address(path, parameters), { signal });
}

export function post(path, body, signal) {
  return request(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
}

export function remove(path) {
  return request(path, { method: "DELETE" });
}

/**
 * For requests of which only the latest one matters: `signal()` aborts the previous request, so that a late answer is
 * dropped.
 */
export class Latest {
  #controller = new AbortController();

  signal() {
    this.stop();
    return this.#controller.signal;
  }

  stop() {
    this.#controller.abort();
    this.#controller = new AbortController();
  }
}

/** Returns true if an error only means that the request was aborted. */
export function dropped(error) {
  return error.name === "AbortError";
}
