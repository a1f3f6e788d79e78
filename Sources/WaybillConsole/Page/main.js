// The page: its views by the fragment of the address, its header, and one rendering per frame.
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
    connecting: "connecting", live: "live", waiting: "server away, trying again", refused: "pattern refused",
    signedOut: "signed out: open the link that the program printed", away: "not watched",
};
/** The least time between two renderings, in milliseconds. */
const calm = 100;
let current = null;
let isScheduled = false;
let renderedAt = 0;

/** Renders what is seen: in a frame, and not sooner than a reader's eye can follow. */
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

/** Shows the view that the fragment names: `#live`, or with what is open in it, `#live/ID`. */
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
