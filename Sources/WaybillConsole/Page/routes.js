// The view of the routes: a table with statistics, the details of a route, and the explanation of a URL.
import { byId, count, duration, make, notShown, plural, rate, setClass, setText } from "./elements.js";
import { CallForm, typeName } from "./form.js";
import { RowList } from "./list.js";
import { ask, changed, model } from "./stream.js";

const none = {
    sent: 0, replied: 0, failed: 0, expired: 0, cancelled: 0, deadLettered: 0, inFlight: 0, rate: 0,
};
const notReplied = (stats) => stats.failed + stats.expired + stats.cancelled + stats.deadLettered;

const columns = [
    { name: "Pattern", class: "url", text: (route) => route.pattern },
    { name: "Module", class: "module", text: (route) => route.module ?? "" },
    { name: "Types", class: "types", text: (route) => route.types },
    { name: "Sent", class: "number", value: (_, stats) => stats.sent, format: count },
    { name: "Not replied", class: "number unreplied", value: (_, stats) => notReplied(stats),
        format: count, title: "failed, expired, cancelled or dead letters" },
    { name: "Rate", class: "number rate", value: (_, stats) => stats.rate, format: rate,
        title: "per second" },
    { name: "p50", class: "number p50", value: (_, stats) => stats.p50, format: duration },
    { name: "p99", class: "number", value: (_, stats) => stats.p99, format: duration },
    { name: "Waiting", class: "number waiting", value: (route, stats) => waiting(route, stats),
        format: count, title: "messages in the mailbox" },
];

const waiting = (route, stats) => stats.waiting ?? route.mailbox?.waiting ?? null;

function typesOf(route) {
    const parameters = route.parameters.map((parameter) => `${parameter.name}: ${parameter.type}`);
    return `(${parameters.join(", ")}) → ${route.replyType ?? "…"}`;
}

let routes = [];
let schemas = {};
let stream = 0;
let isLoading = false;
let wanted = null;
let selected = null;
let explained = null;
let sorting = { column: columns[0], isDescending: false };
let list = null;
let form = null;
/** The number of patterns with statistics that were not among the routes when they were loaded. */
let strangers = 0;

/** Loads the routes, for each new stream and when there are statistics of an unknown route. */
async function load() {
    if (isLoading) return;
    isLoading = true;
    stream = model.streams;
    try {
        const answer = await ask("api/routes");
        schemas = answer.schemas ?? {};
        routes = answer.routes.map((route) => {
            const types = typesOf(route);
            const words = [route.pattern, route.module, route.action, route.documentation, types];
            return { ...route, types, text: words.join(" ").toLowerCase(), shown: null };
        });
        strangers = countStrangers();
        // An unchanged route keeps its form with the text that a person has entered.
        const same = routes.find((route) => selected?.text === route.text);
        if (same) selected = same;
        else if (selected) select(selected.pattern);
        if (wanted) select(wanted);
    } catch {
        // The header shows that the server cannot be reached. The next stream loads the routes again.
    }
    isLoading = false;
    changed();
}

function countStrangers() {
    const known = new Set(routes.map((route) => route.pattern));
    return [...model.stats.keys()].filter((pattern) => !known.has(pattern)).length;
}

const statsOf = (route) => model.stats.get(route.pattern) ?? none;

function fill(cells, { route, stats }) {
    for (const [index, column] of columns.entries()) {
        setText(cells[index], column.text ? column.text(route) : column.format(column.value(route, stats)));
    }
    cells[0].title = route.pattern;
    cells[2].title = route.types;
    setClass(cells[4], notReplied(stats) > 0 ? "number unreplied bad" : "number unreplied");
}

/** Returns the sorted rows. An unchanged row stays the same object, so the list does not fill it again. */
function items() {
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const shown = routes.filter((route) => words.every((word) => route.text.includes(word)));
    const { column, isDescending } = sorting;
    const rank = (route) => (column.text ? column.text(route) : column.value(route, statsOf(route)) ?? -1);
    const order = isDescending ? -1 : 1;
    shown.sort((first, second) => {
        const [left, right] = [rank(first), rank(second)];
        if (left === right) return first.pattern < second.pattern ? -1 : 1;
        return left < right ? -order : order;
    });
    return shown.map((route) => {
        const stats = statsOf(route);
        if (route.shown?.stats !== stats) route.shown = { route, stats };
        return route.shown;
    });
}

function makeHead() {
    const head = byId("routes").tHead.rows[0];
    for (const column of columns) {
        const button = make("button", { type: "button", title: column.title }, column.name);
        const cell = make("th", { class: column.class }, button);
        button.addEventListener("click", () => sort(column, cell));
        if (column === sorting.column) cell.ariaSort = "ascending";
        head.append(cell);
    }
}

function sort(column, cell) {
    const isDescending = sorting.column === column ? !sorting.isDescending : !column.text;
    sorting = { column, isDescending };
    for (const other of cell.parentElement.cells) other.ariaSort = null;
    cell.ariaSort = isDescending ? "descending" : "ascending";
    changed();
}

function select(pattern) {
    wanted = null;
    explained = null;
    selected = routes.find((route) => route.pattern === pattern) ?? null;
    list.select(selected?.pattern ?? null);
    showDetail(selected && detailOf(selected));
    renderFigures();
}

function showDetail(children) {
    byId("route").hidden = !children;
    byId("route").replaceChildren(...(children ?? []));
    byId("view-routes").classList.toggle("open", Boolean(children));
}

const closeButton = () => {
    const button = make("button", { type: "button", class: "close", "aria-label": "Close" }, "✕");
    button.addEventListener("click", () => routesView.escape());
    return button;
};

function detailOf(route) {
    const places = [
        route.module && [route.module, route.action].filter(Boolean).join("."),
        route.fileID && `${route.fileID}:${route.line}`,
        route.exposure?.length && `exposed: ${route.exposure.join(", ")}`,
    ];
    const parameters = route.parameters.map((parameter) => {
        const optional = parameter.isRequired ? "" : " · optional";
        const more = parameter.defaultValue == null ? optional : ` = ${parameter.defaultValue}`;
        return make("li", {}, make("code", {}, `${parameter.name}: ${parameter.type}`), more);
    });
    form = new CallForm(route, schemas);
    return [
        make("div", { class: "bar" }, make("h3", { class: "url" }, route.pattern), closeButton()),
        make("p", { class: "prose" }, route.documentation ?? ""),
        make("p", { class: "soft" }, places.filter(Boolean).join(" · ")),
        make("dl", { id: "route-figures" }),
        make("h4", {}, "Takes"),
        parameters.length ? make("ul", {}, ...parameters) : make("p", { class: "soft" }, "nothing"),
        make("h4", {}, "Answers"),
        make("p", {}, make("code", {}, typeName(route.reply, route.replyType, schemas))),
        form.element,
    ];
}

/** Updates the statistics of the selected route, and leaves its other details and its form unchanged. */
function renderFigures() {
    const figures = byId("route-figures");
    if (!selected || !figures) return;
    const stats = statsOf(selected);
    const limit = stats.limit ?? selected.mailbox?.limit;
    const pairs = [
        ["sent", count(stats.sent)], ["replied", count(stats.replied)], ["failed", count(stats.failed)],
        ["expired", count(stats.expired)], ["cancelled", count(stats.cancelled)],
        ["dead letters", count(stats.deadLettered)], ["in flight", count(stats.inFlight)],
        ["rate", `${rate(stats.rate)}/s`], ["p50", duration(stats.p50)], ["p99", duration(stats.p99)],
        ["mailbox", limit == null ? "none" : `${count(waiting(selected, stats) ?? 0)} of ${count(limit)}`],
    ];
    if (figures.children.length !== pairs.length) {
        figures.replaceChildren(...pairs.map(([name]) => make("div", {}, make("dt", {}, name), make("dd"))));
    }
    for (const [index, [, text]] of pairs.entries()) setText(figures.children[index].lastChild, text);
}

async function explain(url) {
    selected = null;
    list.select(null);
    explained = url;
    const text = await ask(`api/explain?${new URLSearchParams({ url })}`)
        .then((answer) => answer.text, (error) => error.message);
    if (explained !== url) return;
    showDetail([
        make("div", { class: "bar" }, make("h3", { class: "url" }, url), closeButton()),
        make("pre", { tabindex: 0 }, text),
    ]);
}

export const routesView = {
    get list() { return list; },
    get filter() { return byId("search"); },

    open(pattern) {
        if (!list) this.start();
        if (pattern && pattern !== selected?.pattern) {
            if (routes.length) select(pattern);
            else wanted = pattern;
        } else if (!pattern && (selected || explained)) {
            select(null);
        }
    },

    start() {
        makeHead();
        list = new RowList(byId("routes"), {
            columns: columns.map((column) => column.class),
            key: (item) => item.route.pattern,
            fill,
            open: (item) => { location.hash = `routes/${encodeURIComponent(item.route.pattern)}`; },
        });
        byId("search").addEventListener("input", changed);
        byId("explain").addEventListener("submit", (event) => {
            event.preventDefault();
            const { url } = event.target.elements;
            if (location.hash.includes("/")) history.replaceState(null, "", "#routes");
            explain(url.value.trim());
        });
    },

    /** Closes a route by changing the address. An explanation has no address, so it is closed directly. */
    escape() {
        location.hash = "routes";
        if (explained) select(null);
    },

    render() {
        const isOld = stream !== model.streams || strangers !== countStrangers();
        if (model.state === "live" && isOld) load();
        const shown = items();
        list.show(shown);
        setText(byId("routes-count"), plural(shown.length, "route") + notShown(routes.length - shown.length));
        renderFigures();
        form?.render();
    },
};
