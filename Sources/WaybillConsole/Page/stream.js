// The stream of the server, and what the page knows from it. All of it is bounded.

export const keptRows = 500;
const keptSeconds = 120;
const pageRows = 200;

/** What the views show. */
export const model = {
    about: null,
    /** connecting, live, waiting (for the server), refused (the pattern), signedOut, away (not looked at). */
    state: "connecting",
    pattern: "",
    /** Why the server refuses the pattern, or null. */
    patternProblem: null,
    /** The newest messages by ID, oldest first. */
    rows: new Map(),
    /** The latest figures of each route, by its pattern. */
    stats: new Map(),
    snapshot: null,
    /** When the console was made, in seconds of this machine's clock. */
    epoch: null,
    /** The totals of the bus, once a second. */
    history: [],
    /** The longest lag of each loop that was seen. */
    longestLags: new Map(),
    /** Counts the streams: what was seen in another one may be of another process. */
    streams: 0,
};

const observers = [];
let source = null;
let retry = null;
let attempts = 0;

/** Calls a closure with the IDs of new or changed rows after each snapshot, and when the state changes. */
export const observe = (observer) => observers.push(observer);

function report(rows = []) {
    for (const observer of observers) observer(rows);
}

/** Has the view rendered again, for what it has fetched itself. */
export const changed = () => report();

function enter(state) {
    model.state = state;
    report();
}

/** JSON as a value, whole numbers as text if JavaScript would round them; nothing for what is no JSON. */
function read(text) {
    const isRounded = (value) => Number.isInteger(value) && !Number.isSafeInteger(value);
    try {
        return JSON.parse(text, (_, value, context) => (isRounded(value) ? context?.source ?? value : value));
    } catch {
        return {};
    }
}

/** Asks the server: JSON comes back, or an error with the sentence of the problem. */
export async function ask(path, body) {
    const options = body && {
        method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    };
    const response = await fetch(path, options);
    if (response.status === 401) enter("signedOut");
    const answer = read(await response.text());
    if (response.ok) return answer;
    throw Object.assign(new Error(answer.detail ?? answer.title ?? `status ${response.status}`), {
        status: response.status,
    });
}

/** Asks the server for the same path every two seconds while a view is open, and has the view rendered again. */
export class Poll {
    /** The last answer, or null. */
    answer = null;
    /** The sentence of the failure of the last request, or null. */
    problem = null;
    #path;
    #timer = null;
    #isOpen = false;

    constructor(path) {
        this.#path = path;
    }

    open() {
        const wasOpen = this.#isOpen;
        this.#isOpen = true;
        if (!wasOpen) this.load();
    }

    close() {
        this.#isOpen = false;
        clearTimeout(this.#timer);
    }

    /** Asks at once, unless the view was left. */
    async load() {
        if (!this.#isOpen) return;
        clearTimeout(this.#timer);
        try {
            this.answer = await ask(this.#path);
            this.problem = null;
        } catch (error) {
            this.problem = error.message;
        }
        changed();
        // The view may have been left meanwhile.
        if (this.#isOpen) this.#timer = setTimeout(() => this.load(), 2000);
    }
}

/** Opens the stream of the messages that match a pattern, and closes the one before. */
export async function connect(pattern = model.pattern) {
    disconnect();
    const stream = ++model.streams;
    if (pattern !== model.pattern) {
        model.pattern = pattern;
        model.rows.clear();
    }
    enter("connecting");
    try {
        model.about = await ask("api/about");
    } catch (error) {
        if (stream === model.streams && error.status !== 401) reconnect();
        return;
    }
    if (stream === model.streams) listen();
}

function listen() {
    const query = new URLSearchParams({ pattern: model.pattern, rows: pageRows });
    if (!model.pattern) query.delete("pattern");
    let isFirst = true;
    source = new EventSource(`api/stream?${query}`);
    source.addEventListener("snapshot", (event) => {
        const snapshot = JSON.parse(event.data);
        if (isFirst) begin(snapshot);
        isFirst = false;
        attempts = 0;
        take(snapshot);
    });
    source.addEventListener("end", reconnect);
    source.onerror = () => {
        // The status of a refused stream is hidden from EventSource: the pattern is asked about apart.
        if (isFirst) explainRefusal(query);
        reconnect();
    };
}

async function explainRefusal(query) {
    const { pattern } = model;
    const abort = new AbortController();
    try {
        const response = await fetch(`api/stream?${query}`, { signal: abort.signal });
        const { detail } = response.status === 400 ? await response.json() : {};
        abort.abort();
        if (!detail || pattern !== model.pattern) return;
        disconnect();
        model.patternProblem = detail;
        enter("refused");
    } catch {
        // The server is away, and the stream is opened again later.
    }
}

function disconnect() {
    source?.close();
    source = null;
    clearTimeout(retry);
}

function reconnect() {
    disconnect();
    enter("waiting");
    attempts += 1;
    retry = setTimeout(() => connect(), Math.min(500 * 2 ** attempts, 10_000));
}

/** The first snapshot of a stream may come from a program that was started again: its IDs begin anew. */
function begin(snapshot) {
    if (snapshot.time < (model.snapshot?.time ?? 0)) {
        model.rows.clear();
        model.epoch = null;
        model.history = [];
    }
    model.stats.clear();
    model.patternProblem = null;
    model.state = "live";
}

function take(snapshot) {
    for (const row of snapshot.rows) model.rows.set(row.id, row);
    const surplus = model.rows.size - keptRows;
    const oldest = model.rows.keys();
    for (let index = 0; index < surplus; index += 1) model.rows.delete(oldest.next().value);
    for (const route of snapshot.routes) model.stats.set(route.pattern, route);
    for (const loop of snapshot.loops) {
        model.longestLags.set(loop.name, Math.max(loop.lag, model.longestLags.get(loop.name) ?? 0));
    }
    const last = model.history.at(-1);
    if (!last || Math.floor(snapshot.time) > Math.floor(last.time)) {
        model.history.push({ time: snapshot.time, ...snapshot.bus });
        if (model.history.length > keptSeconds + 1) model.history.shift();
    }
    // The least delay that was seen is nearest to the truth.
    const epoch = Date.now() / 1000 - snapshot.time;
    model.epoch = Math.min(epoch, model.epoch ?? epoch);
    const ids = snapshot.rows.map((row) => row.id);
    // The rows are in the model: held here as well they would live until the next snapshot.
    model.snapshot = { ...snapshot, rows: null, routes: null };
    report(ids);
}

/** A time of the console as this machine's clock says it. */
export function clock(time) {
    const date = new Date((model.epoch + time) * 1000);
    const pad = (value, width) => String(value).padStart(width, "0");
    const parts = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part, 2));
    return `${parts.join(":")}.${pad(date.getMilliseconds(), 3)}`;
}

// A page in the background watches nothing, and costs the program nothing.
document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
        disconnect();
        model.streams += 1;
        enter("away");
    } else {
        connect();
    }
});
