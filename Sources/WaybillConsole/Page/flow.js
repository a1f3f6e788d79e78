// The panel with the flow of a message: its causes and effects as a diagram, as text, and as files.
import { byId, duration, make, notShown, plural, setText } from "./elements.js";
import { drawDiagram, offset, standalone } from "./diagram.js";
import { ask, changed, model } from "./stream.js";

const patience = 400;
/** The time between two loads of a flow in which a message has no outcome yet, in milliseconds. */
const interval = 1000;

export class FlowPanel {
    #element;
    #id = null;
    #flow = null;
    #problem = null;
    #ids = new Set();
    /** The width that the diagram was drawn for. */
    #width = 0;
    #isDue = false;
    #timer = null;
    /** The time at which the timer fires. */
    #due = 0;

    constructor(element) {
        this.#element = element;
        element.addEventListener("click", (event) => {
            const button = event.target.closest("button");
            if (button?.dataset.export) this.#export(button.dataset.export);
            else if (button) location.hash = "live";
        });
    }

    open(id) {
        if (this.#id === id) return;
        this.close();
        this.#id = id;
        this.#element.hidden = false;
        setText(byId("flow-title"), `Flow of ${id}`);
        setText(byId("flow-note"), "");
        this.#load();
    }

    close() {
        clearTimeout(this.#timer);
        this.#timer = this.#id = this.#flow = this.#problem = null;
        this.#ids.clear();
        this.#element.hidden = true;
        byId("diagram").replaceChildren();
        byId("events").replaceChildren();
    }

    /** Loads the flow again when one of its messages has changed, at most once in `patience` milliseconds. */
    note(rows) {
        const belongs = (id) => this.#ids.has(id) || this.#ids.has(model.rows.get(id)?.cause);
        if (this.#id && rows.some(belongs)) this.#loadAfter(patience);
    }

    /** Loads the flow after some milliseconds, unless it will be loaded sooner. */
    #loadAfter(delay) {
        const due = performance.now() + delay;
        if (this.#timer && this.#due <= due) return;
        clearTimeout(this.#timer);
        this.#due = due;
        this.#timer = setTimeout(() => this.#load(), delay);
    }

    /** Whether a message of the flow has no outcome yet. */
    get #isWaiting() {
        const ended = new Set();
        for (const { kind, id } of this.#flow.events) if (kind === "reply" || kind === "failure") ended.add(id);
        return this.#flow.events.some((event) => !ended.has(event.id));
    }

    /**
     * Loads the flow, and loads it again later if a message has no outcome or the request fails. The rows of the
     * page do not suffice for this, because a filter possibly excludes messages of the flow.
     */
    async #load() {
        const id = this.#id;
        let isGone = false;
        this.#timer = null;
        // A panel that nobody sees does not ask.
        if (document.hidden || !this.#element.getClientRects().length) return this.#loadAfter(interval);
        try {
            const flow = await ask(`api/flows/${encodeURIComponent(id)}`);
            if (id !== this.#id) return;
            this.#isDue ||= JSON.stringify(flow) !== JSON.stringify(this.#flow);
            this.#flow = flow;
            this.#problem = null;
            for (const event of flow.events) this.#ids.add(event.id);
        } catch (error) {
            if (id !== this.#id) return;
            isGone = error.status === 404;
            this.#problem = isGone ? "The console no longer keeps this message." : error.message;
            this.#isDue = true;
        }
        if (!isGone && (this.#problem || this.#isWaiting)) this.#loadAfter(interval);
        changed();
    }

    render() {
        const target = byId("diagram");
        if (!this.#id || (!this.#isDue && target.clientWidth === this.#width)) return;
        this.#isDue = false;
        for (const button of this.#element.querySelectorAll("[data-export]")) button.disabled = !this.#flow;
        if (this.#problem && !this.#flow) setText(byId("flow-note"), this.#problem);
        if (!this.#flow) return;
        const { events, participants, dropped } = this.#flow;
        this.#width = target.clientWidth;
        target.replaceChildren(drawDiagram(this.#flow, this.#id, this.#width));
        const size = `${plural(events.length, "event")}, ${plural(participants.length, "participant")}`;
        setText(byId("flow-note"), size + notShown(dropped));
        byId("events").replaceChildren(...events.map((event) => make("li", {},
            `${offset(event, events)} ${event.kind} ${event.from} → ${event.to} `,
            make("code", {}, [event.url, event.text].filter(Boolean).join(" ")),
            event.duration == null ? "" : ` in ${duration(event.duration)}`)));
    }

    #export(format) {
        const name = `flow-${this.#id}`;
        if (format === "mermaid") download(`${name}.mmd`, "text/vnd.mermaid", this.#flow.mermaid);
        const json = JSON.stringify(this.#flow, null, 2);
        if (format === "json") download(`${name}.json`, "application/json", json);
        const drawn = byId("diagram").firstElementChild;
        if (format === "svg") download(`${name}.svg`, "image/svg+xml", standalone(drawn));
    }
}

function download(name, type, text) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    make("a", { href: address, download: name }).click();
    // The browser has started to read the file by then.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
