// The view of the newest messages, filtered by a pattern, with the flow of the selected message.
import { byId, count, duration, notShown, setClass, setText } from "./elements.js";
import { FlowPanel } from "./flow.js";
import { RowList } from "./list.js";
import { changed, clock, connect, keptRows, model } from "./stream.js";

const rowHeight = 25;
let list = null;
let flow = null;
let isPaused = false;
/** The rows and the count of messages when the list stopped moving, or null while the list moves. */
let held = null;

function outcome(row) {
    const progress = row.progress ? `${row.progress} progress · ` : "";
    if (row.failure) return `${progress}${row.failure.code}: ${row.failure.message}`;
    if (row.state === "waiting") return `${progress}waiting`;
    if (row.state === "unknown") return `${progress}outcome not seen`;
    return `${progress}${row.value ?? row.state}`;
}

function fill(cells, row) {
    const text = outcome(row);
    const shapes = Object.entries(row.parameters ?? {}).map(([name, shape]) => `${name}: ${shape}`);
    setText(cells[0], clock(row.time));
    setText(cells[1], row.kind);
    setText(cells[2], row.url);
    const facts = [row.url, row.pattern, `from ${row.node ?? row.origin}`, ...shapes];
    cells[2].title = facts.filter(Boolean).join("\n");
    setText(cells[3], row.module ?? row.node ?? "");
    setText(cells[4], text);
    cells[4].title = text;
    setClass(cells[4], `outcome ${row.state}`);
    setText(cells[5], duration(row.duration));
}

/**
 * Holds the list while it is paused, is scrolled, or has the focus, so that its rows stay in place. The outcomes
 * of held rows still change.
 */
function holdOrGoOn() {
    const shouldHold = isPaused || list.hasFocus || scroller().scrollTop > 0;
    if (shouldHold) held ??= { rows: newestFirst(), counted: model.snapshot?.counted ?? 0 };
    else held = null;
}

/** Returns the rows by their time, the newest first. The model has them in the order of arrival. */
const newestFirst = () =>
    [...model.rows.values()].reverse().sort((first, second) => second.time - first.time);
const scroller = () => byId("messages").parentElement;

function renderCount() {
    const { snapshot } = model;
    const waiting = held ? (snapshot?.counted ?? 0) - held.counted : 0;
    const word = isPaused ? "paused" : "held (Esc)";
    const state = held ? `${word}, ${count(waiting)} since · ` : "";
    const passed = snapshot?.counted ?? 0;
    const all = `${count(passed)} passed, ${count(passed - (snapshot?.dropped ?? 0))} shown`;
    setText(byId("live-count"), `${state}${all}${notShown(snapshot?.dropped)}`);
    byId("live-count").title = `The page keeps the newest ${keptRows} messages.`;
}

function submit(event) {
    event?.preventDefault();
    const pattern = byId("filter").elements.pattern.value.trim();
    held = null;
    connect(pattern);
}

export const liveView = {
    get list() { return list; },
    get filter() { return byId("filter").elements.pattern; },

    start() {
        list = new RowList(byId("messages"), {
            columns: ["clock", "kind", "url", "module", "outcome", "number"],
            key: (row) => row.id,
            fill,
            open: (row) => { location.hash = `live/${encodeURIComponent(row.id)}`; },
        });
        flow = new FlowPanel(byId("flow"));
        byId("filter").addEventListener("submit", submit);
        // An emptied field shows all messages without a click on the button.
        this.filter.addEventListener("change", () => { if (!this.filter.value) submit(); });
        byId("pause").addEventListener("click", () => this.pause());
        byId("messages").addEventListener("focusin", changed);
        byId("messages").addEventListener("focusout", changed);
        scroller().addEventListener("scroll", changed);
    },

    open(id) {
        if (!list) this.start();
        byId("view-live").classList.toggle("open", Boolean(id));
        list.select(id ?? null);
        if (id) flow.open(id);
        else flow.close();
    },

    /** Passes the IDs of changed rows to the flow. This method is also called while the view is hidden. */
    note(rows) { flow?.note(rows); },

    pause() {
        isPaused = !isPaused;
        byId("pause").ariaPressed = isPaused;
        changed();
    },

    escape() {
        location.hash = "live";
        if (list.hasFocus) document.activeElement.blur();
        scroller().scrollTop = 0;
        if (isPaused) this.pause();
    },

    render() {
        holdOrGoOn();
        // A moving list shows only the rows that fit on the screen. A held list shows all rows.
        const rows = held
            ? held.rows.map((row) => model.rows.get(row.id) ?? row)
            : newestFirst().slice(0, Math.ceil(innerHeight / rowHeight));
        list.show(rows);
        byId("no-messages").hidden = rows.length > 0;
        renderCount();
        byId("filter-problem").hidden = !model.patternProblem;
        setText(byId("filter-problem"), model.patternProblem ?? "");
        flow.render();
    },
};
