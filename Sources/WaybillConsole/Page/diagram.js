// Draws a flow as a sequence diagram. Participants are side by side, and time runs from top to bottom.
import { duration, make } from "./elements.js";

const gutter = 58;
const head = 40;
const step = 27;
const letter = 6.3;
const mostEvents = 400;

/** Returns the time between the first event and an event, such as `+1.20 ms`. */
export const offset = (event, events) => `+${duration((event.time - events[0].time) * 1e6)}`;

const shorten = (text, width) => {
    const room = Math.max(Math.floor(width / letter), 4);
    return text.length > room ? `${text.slice(0, room - 1)}…` : text;
};

/** Returns the text on the arrow of an event. A URL that starts with `scheme` is shown without it. */
function label({ kind, url, text, duration: took }, scheme) {
    const what = (url?.startsWith(scheme) ? url.slice(scheme.length) : url) ?? text ?? "";
    switch (kind) {
    case "request": return what;
    case "reply": return `${text ?? "reply"} · ${duration(took)}`;
    case "failure": return `✕ ${text ?? "failed"}`;
    default: return `${kind}: ${what}`;
    }
}

function commonScheme(events) {
    const schemes = new Set(events.map((event) => event.url?.match(/^[^:/?#]+:\/\//)?.[0]).filter(Boolean));
    return schemes.size === 1 ? [...schemes][0] : "no scheme";
}

/** Draws a flow for a width. The events of message `id` are highlighted. */
export function drawDiagram({ participants, events, dropped }, id, width) {
    const shown = events.slice(0, mostEvents);
    const scheme = commonScheme(events);
    const column = Math.min(Math.max((width - gutter - 8) / participants.length, 120), 260);
    const center = (name) => gutter + column * (participants.indexOf(name) + 0.5);
    const level = (index) => head + step * (index + 1);
    const surplus = events.length - shown.length + (dropped ?? 0);
    const height = level(shown.length) + (surplus > 0 ? 20 : 4);
    const end = gutter + column * participants.length + 8;
    const svg = make("svg", { width: end, height, viewBox: `0 0 ${end} ${height}`, class: "diagram",
        role: "img", "aria-label": `${events.length} events between ${participants.join(", ")}` });
    for (const name of participants) svg.append(...participant(name, center(name), column, height));
    svg.append(...activations(shown, center, level));
    for (const [index, event] of shown.entries()) {
        const text = label(event, scheme);
        const place = { from: center(event.from), to: center(event.to), y: level(index), column, end };
        svg.append(arrow(event, text, place, offset(event, events), event.id === id));
    }
    if (surplus > 0) svg.append(make("text", { x: 4, y: height - 6, class: "time" }, `${surplus} not shown`));
    return svg;
}

function participant(name, x, column, height) {
    const width = column - 12;
    return [
        make("line", { x1: x, x2: x, y1: head - 8, y2: height, class: "lifeline" }),
        make("rect", { x: x - width / 2, y: 6, width, height: 26, rx: 5, class: "participant" }),
        make("text", { x, y: 23, class: "name" }, make("title", {}, name), shorten(name, width - 10)),
    ];
}

/** Returns a bar for each message, on the lifeline of its handler, from its arrival to its outcome. */
function activations(events, center, y) {
    const begun = new Map();
    const bars = [];
    for (const [index, event] of events.entries()) {
        if (["request", "send", "publication", "return"].includes(event.kind)) {
            const depth = [...begun.values()].filter((bar) => bar.name === event.to).length;
            begun.set(event.id, { index, depth, name: event.to });
        }
        const start = ["reply", "failure"].includes(event.kind) ? begun.get(event.id) : null;
        if (!start) continue;
        begun.delete(event.id);
        const [x, top] = [center(start.name) - 4 + 4 * start.depth, y(start.index)];
        bars.unshift(make("rect", { x, y: top, width: 8, height: y(index) - top, class: "activation" }));
    }
    return bars;
}

function arrow(event, text, { from, to, y, column, end }, time, isMarked) {
    const parts = [`${time} ${event.kind}: ${event.from} → ${event.to}`, event.url, event.text];
    const group = make("g", { class: `event ${event.kind}${isMarked ? " marked" : ""}` },
        make("title", {}, parts.filter(Boolean).join("\n")),
        make("text", { x: 4, y: y + 4, class: "time" }, time));
    if (from === to) {
        const path = `M${from + 4} ${y - 8} h22 v10 h-20`;
        group.append(make("path", { d: path, class: "line" }), tip(from + 5, y + 2, -1),
            make("text", { x: from + 32, y: y - 2, class: "label start" }, shorten(text, end - from - 40)));
        return group;
    }
    const direction = to > from ? 1 : -1;
    const room = Math.max(Math.abs(to - from), column) - 14;
    const [x1, x2] = [from + 4 * direction, to - 5 * direction];
    group.append(make("line", { x1, x2, y1: y, y2: y, class: "line" }),
        tip(to - 4 * direction, y, direction),
        make("text", { x: (from + to) / 2, y: y - 6, class: "label" }, shorten(text, room)));
    return group;
}

const tip = (x, y, direction) =>
    make("path", { d: `M${x} ${y} l${-8 * direction} -4 v8 z`, class: "tip" });

/** Returns the diagram as an SVG file, with its style rules and the colours of the current theme. */
export function standalone(svg) {
    const copy = svg.cloneNode(true);
    const root = getComputedStyle(document.documentElement);
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
        .filter((rule) => rule.selectorText?.includes(".diagram"))
        .map((rule) => rule.cssText.replace(/var\((--[a-z]+)\)/g, (_, name) => root.getPropertyValue(name)));
    const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
    style.textContent = rules.join("\n");
    copy.prepend(style);
    return new XMLSerializer().serializeToString(copy);
}
