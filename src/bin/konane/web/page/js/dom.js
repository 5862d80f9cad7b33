// DOM elements. Text is never parsed as markup, and styles are classes, as the content security policy requires.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined
    && child !== false && child !== ""));
  return node;
}

/** Creates an element with attributes, listeners (`onclick`) and children, which are nodes or texts. */
export function el(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** Creates an SVG element in the same way. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Replaces the children of a node. */
export function put(node, ...children) {
  const kept = document.activeElement;
  const key = node.contains(kept) ? kept.dataset.key : undefined;
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null
    && child !== undefined && child !== false));
  // Keeps the keyboard focus on the element with the same key.
  if (key !== undefined) node.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
}

/** Creates a text for screen readers only. */
export function unseen(text) {
  return el("span", { class: "unseen" }, text);
}

/** Announces a text to screen readers, after the current one. */
export function announce(text) {
  const live = document.getElementById("live");
  if (live.textContent !== text) live.textContent = text;
}

/** The layout with the tabs beside the board. */
export const wide = matchMedia("(min-width: 56rem)");

export const calm = matchMedia("(prefers-reduced-motion: reduce)");
