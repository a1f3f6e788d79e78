// Shows the view that the fragment of the address names, and renders it and the header in animation frames.
import { byId, count, plural, rate, setClass, setText } from "./elements.js";
import { connect, model, observe } from "./stream.js";
import { bindKeys } from "./keys.js";
import { deadLettersView } from "./deadletters.js";
import { liveView } from "./live.js";
import { nodesView } from "./nodes.js";
import { routesView } from "./routes.js";
import { statisticsView } from "./statistics.js";
import { storesView } from "./stores.js";

const views = {
    routes: routesView, live: liveView, deadletters: deadLettersView, statistics: statisticsView,
    nodes: nodesView, stores: storesView,
};
const states = {
    connecting: "connecting", live: "live", waiting: "server away, trying again", full: "too many pages are open, trying again",
    refused: "pattern refused",
    signedOut: "signed out: open the link that the program printed", away: "not watched",
};
/** The minimum time between two renderings, in milliseconds. */
const calm = 100;
let current = null;
let isScheduled = false;
let renderedAt = 0;

/** Schedules a rendering of the header and the current view, at most one every `calm` milliseconds. */
function schedule() {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(requestAnimationFrame, renderedAt + calm - performance.now(), () => {
        isScheduled = false;
        renderedAt = performance.now();
        renderHeader();
        current?.render();
    });
}

function renderHeader() {
    const { about, history, snapshot, state } = model;
    setText(byId("state"), states[state]);
    setClass(byId("state"), `state ${state}`);
    if (about) {
        setText(byId("name"), about.node ?? about.name);
        const title = `${about.node ?? about.name}: Waybill console`;
        if (document.title !== title) document.title = title;
        byId("mode").hidden = false;
        setText(byId("mode"), about.mayAct ? "may act" : "read-only");
    }
    if (!snapshot) return;
    const [before, last] = history.slice(-2);
    const sent = last ? (last.sent - before.sent) / (last.time - before.time) : 0;
    setText(byId("summary"), `${rate(sent)}/s · ${count(snapshot.bus.inFlight)} in flight`);
    byId("letters").hidden = snapshot.deadLetters === 0;
    setText(byId("letters"), count(snapshot.deadLetters));
    byId("letters").title = plural(snapshot.deadLetters, "dead letter");
}

function decode(text) {
    try {
        return decodeURIComponent(text);
    } catch {
        return text;
    }
}

/** Shows the view that the fragment of the address names, such as `#live`. `#live/ID` also opens an item. */
function navigate() {
    const [name, argument] = location.hash.slice(1).split("/", 2);
    const key = Object.hasOwn(views, name) ? name : "routes";
    for (const other of Object.keys(views)) byId(`view-${other}`).hidden = other !== key;
    for (const link of document.querySelectorAll("nav a")) {
        if (link.hash === `#${key}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    if (current !== views[key]) current?.close?.();
    current = views[key];
    current.open(argument && decode(argument));
    schedule();
}

observe((rows) => {
    for (const view of Object.values(views)) view.note?.(rows);
    schedule();
});
bindKeys(Object.keys(views), () => current);
addEventListener("hashchange", navigate);
navigate();
connect();
