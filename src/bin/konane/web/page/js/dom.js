// Elements. Texts are always texts and never markup, and styles are classes: the content policy
// allows nothing else.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined
    && child !== false));
  return node;
}

/** An element with attributes, listeners (`onclick`) and children: nodes or texts. */
export function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Replaces what a node holds. */
export function put(node, ...children) {
  const kept = document.activeElement;
  const key = node.contains(kept) ? kept.dataset.key : undefined;
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null
    && child !== undefined && child !== false));
  // Who was in this part with the keyboard stays there, if the same thing is there again.
  if (key !== undefined) node.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** Something that only screen readers read. */
export function unseen(text) {
  return el("span", { class: "unseen" }, text);
}

/** Has screen readers say a text, after what they are saying. */
export function announce(text) {
  const live = document.getElementById("live");
  if (live.textContent !== text) live.textContent = text;
}

export const calm = matchMedia("(prefers-reduced-motion: reduce)");
