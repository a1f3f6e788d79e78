// The view of the statistics: totals, graphs of rates and durations, mailboxes, and the lag of the loops.
import { byId, count, duration, make, rate, setText } from "./elements.js";
import { model } from "./stream.js";

const height = 120;
const floor = height - 16;
const shownRoutes = 8;

const books = [
    "sent", "replied", "failed", "expired", "cancelled", "deadLettered", "inFlight", "lateReplies",
];
const names = { deadLettered: "dead letters", inFlight: "in flight", lateReplies: "late replies" };

/** Writes texts into the rows of a table, and reuses the rows that exist. */
function writeRows(body, rows) {
    while (body.rows.length > rows.length) body.deleteRow(-1);
    for (const [index, texts] of rows.entries()) {
        const row = body.rows[index] ?? body.insertRow();
        for (const [place, text] of texts.entries()) {
            const cell = row.cells[place] ?? row.insertCell();
            cell.className = place ? "number" : "url";
            setText(cell, text);
            if (!place) cell.title = text;
        }
    }
}

function renderBooks(bus) {
    const totals = byId("totals");
    if (!totals.children.length) {
        totals.append(...books.map((key) => make("div", {}, make("dt", {}, names[key] ?? key), make("dd"))));
    }
    for (const [index, key] of books.entries()) setText(totals.children[index].lastChild, count(bus[key]));
    const sum = bus.replied + bus.failed + bus.expired + bus.cancelled + bus.deadLettered + bus.inFlight;
    setText(byId("books"), sum === bus.sent
        ? "The counts add up: each sent message has one outcome or is in flight."
        : `The counts do not add up: they differ by ${count(bus.sent - sum)}.`);
}

/** Returns the increase of a total per second, from each sample of the history to the next. */
function rates(total) {
    const { history } = model;
    return history.slice(1).map((sample, index) => {
        const before = history[index];
        return { time: sample.time, value: (total(sample) - total(before)) / (sample.time - before.time) };
    });
}

/** A line graph of the last two minutes. */
class Graph {
    #line = make("polyline", { class: "curve" });
    #area = make("path", { class: "area" });
    #most = make("text", { x: 4, y: 12, class: "axis" });
    #svg;

    constructor(target, noun) {
        this.noun = noun;
        this.#svg = make("svg", { height, class: "graph", role: "img" },
            make("line", { x1: 0, x2: "100%", y1: floor, y2: floor, class: "base" }),
            this.#area, this.#line, this.#most,
            make("text", { x: 4, y: height - 3, class: "axis" }, "2 minutes ago"),
            make("text", { x: "100%", y: height - 3, class: "axis end" }, "now"));
        target.append(this.#svg);
    }

    show(points) {
        const width = this.#svg.parentElement.clientWidth;
        const most = Math.max(1, ...points.map((point) => point.value));
        const last = points.at(-1);
        const places = points.map((point) => {
            const x = width * (1 - (last.time - point.time) / 120);
            return `${x.toFixed(1)} ${(floor - (floor - 18) * (point.value / most)).toFixed(1)}`;
        });
        this.#line.setAttribute("points", places.join(" "));
        this.#area.setAttribute("d", places.length
            ? `M${places[0].split(" ")[0]} ${floor} L${places.join(" L")} L${width} ${floor} Z` : "");
        setText(this.#most, `at most ${rate(most)}`);
        this.#svg.ariaLabel = `${this.noun}: ${rate(last?.value ?? 0)} now, ${rate(most)} at most`;
    }
}

const text = (x, y, words) => make("text", { x, y, class: "axis middle" }, words);

let graphs = null;
let histogram = null;
let drawn = null;

/** Draws a bar for each range of durations. Its height shows the number of messages. */
function drawHistogram(buckets) {
    const width = byId("histogram").clientWidth;
    const key = JSON.stringify([width, buckets]);
    if (key === drawn) return;
    drawn = key;
    const first = buckets.findIndex(([, number]) => number > 0);
    const end = buckets.findLastIndex(([, number]) => number > 0) + 1;
    const shown = buckets.slice(Math.max(first, 0), end);
    const most = Math.max(1, ...shown.map(([, number]) => number));
    const step = Math.min(width / Math.max(shown.length, 1), 90);
    const broad = Math.max(step - 2, 1);
    const every = Math.ceil(56 / step);
    const bars = shown.flatMap(([upper, number], index) => {
        const high = number ? Math.max((floor - 18) * (number / most), 1.5) : 0;
        const x = index * step;
        return [
            make("rect", { x: x + 1, y: floor - high, width: broad, height: high, class: "bin" },
                make("title", {}, `${count(number)} up to ${duration(upper)}`)),
            ...(index % every ? [] : [text(x + step / 2, height - 3, duration(upper))]),
            ...(step > 40 && number ? [text(x + step / 2, floor - high - 4, count(number))] : []),
        ];
    });
    const base = make("line", { x1: 0, x2: width, y1: floor, y2: floor, class: "base" });
    histogram.replaceChildren(base, ...bars);
    const total = shown.reduce((sum, [, number]) => sum + number, 0);
    histogram.ariaLabel = `Durations of ${count(total)} messages`
        + (shown.length ? `, from ${duration(shown[0][0])} to ${duration(shown.at(-1)[0])}` : "");
}

function start() {
    const targets = [["graph-sent", "Sent per second"], ["graph-lost", "Not replied per second"]];
    graphs = targets.map(([id, noun]) => new Graph(byId(id), noun));
    histogram = make("svg", { height, class: "graph", role: "img" });
    byId("histogram").append(histogram);
}

export const statisticsView = {
    open() { if (!graphs) start(); },

    render() {
        const { snapshot } = model;
        if (!snapshot) return;
        renderBooks(snapshot.bus);
        graphs[0].show(rates((sample) => sample.sent));
        graphs[1].show(rates((sample) => sample.sent - sample.replied - sample.inFlight));
        drawHistogram(snapshot.histogram);
        const stats = [...model.stats.values()];
        const writeMost = (id, key, texts) => {
            const most = stats.filter((route) => route[key] > 0)
                .sort((first, second) => second[key] - first[key]).slice(0, shownRoutes);
            const rows = most.map((route) => [route.pattern, ...texts(route)]);
            writeRows(byId(id).tBodies[0], rows.length ? rows : [["none", "", ""]]);
        };
        writeMost("busiest", "rate", (route) => [`${rate(route.rate)}/s`, duration(route.p99)]);
        writeMost("mailboxes", "waiting", (route) => [count(route.waiting), count(route.limit)]);
        writeRows(byId("loops").tBodies[0], snapshot.loops.map((loop) => [loop.name, duration(loop.lag),
            duration(model.longestLags.get(loop.name))]));
    },
};
