// Makes elements and formats figures. Data is inserted only as text, never as markup.

export const byId = (id) => document.getElementById(id);

const graphicNames = new Set(["svg", "g", "line", "path", "rect", "text", "title", "polyline"]);

/** Makes an HTML or SVG element with attributes and children. A child that is a string becomes text. */
export function make(name, attributes = {}, ...children) {
    const element = graphicNames.has(name)
        ? document.createElementNS("http://www.w3.org/2000/svg", name)
        : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (value === true) element.setAttribute(key, "");
        else if (value !== false && value != null) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child != null));
    return element;
}

/** Sets the text of an element. An equal text is not set again, because that would cause a new layout. */
export function setText(element, text) {
    const node = element.firstChild;
    if (node?.nodeType === Node.TEXT_NODE && !node.nextSibling) {
        if (node.data !== text) node.data = text;
    } else if (node || text !== "") {
        element.textContent = text;
    }
}

export function setClass(element, name) {
    if (element.className !== name) element.className = name;
}

const numbers = new Intl.NumberFormat("en");

export const count = (value) => (value == null ? "–" : numbers.format(value));

/** Formats a duration in microseconds, such as `12.3 ms`. */
export function duration(micros) {
    if (micros == null) return "–";
    if (micros < 1000) return `${Math.round(micros)} µs`;
    if (micros < 1e6) return `${(micros / 1000).toPrecision(3)} ms`;
    return `${(micros / 1e6).toPrecision(3)} s`;
}

export function rate(value) {
    return value >= 100 ? count(Math.round(value)) : (value || 0).toFixed(value ? 1 : 0);
}

/** Returns " · n not shown", or an empty text if nothing was left out. */
export const notShown = (dropped) => (dropped > 0 ? ` · ${count(dropped)} not shown` : "");

export const plural = (number, noun) => `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
