// The stream of snapshots from the server, and the model of the page, whose size is limited.

export const keptRows = 500;
const keptSeconds = 120;
const pageRows = 200;

/** The state that the views show. */
export const model = {
    about: null,
    /**
     * `connecting`, `live`, `waiting` for the server, `full` if too many pages are open, `refused` pattern,
     * `signedOut`, or `away` while hidden.
     */
    state: "connecting",
    pattern: "",
    /** The reason why the server rejects the pattern, or null. */
    patternProblem: null,
    /** The newest messages by ID, oldest first. */
    rows: new Map(),
    /** The latest figures of each route, by its pattern. */
    stats: new Map(),
    snapshot: null,
    /** The start of the console, in seconds of this machine's clock, or null if it is not known. */
    epoch: null,
    /** The totals of the bus, with one sample for each second. */
    history: [],
    /** The longest lag that was seen of each loop, by its name. */
    longestLags: new Map(),
    /** The number of streams so far. Another stream may come from another process. */
    streams: 0,
};

const observers = [];
let source = null;
let retry = null;
let attempts = 0;
/** The instance of the program that the model is about. */
let instance = null;

/** Calls a function after each snapshot with the IDs of changed rows, and without IDs for other changes. */
export const observe = (observer) => observers.push(observer);

function report(rows = []) {
    for (const observer of observers) observer(rows);
}

/** Renders the page again for a change that is not from a snapshot. */
export const changed = () => report();

function enter(state) {
    model.state = state;
    report();
}

/** Parses JSON. Whole numbers that JavaScript would round become text. Invalid JSON becomes `{}`. */
function read(text) {
    const isRounded = (value) => Number.isInteger(value) && !Number.isSafeInteger(value);
    try {
        return JSON.parse(text, (_, value, context) => (isRounded(value) ? context?.source ?? value : value));
    } catch {
        return {};
    }
}

/** Sends a request and returns the JSON of the response. Throws an error with the server's explanation. */
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

/** Requests a path every two seconds while a view is open and visible, and renders the page after each response. */
export class Poll {
    /** The last answer, or null. */
    answer = null;
    /** The error message of the last request, or null if the request succeeded. */
    problem = null;
    #path;
    #timer = null;
    #isOpen = false;

    constructor(path) {
        this.#path = path;
        document.addEventListener("visibilitychange", () => this.load());
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

    /** Sends the request now, unless the view is closed or the page is hidden. */
    async load() {
        clearTimeout(this.#timer);
        if (!this.#isOpen || document.hidden) return;
        try {
            this.answer = await ask(this.#path);
            this.problem = null;
        } catch (error) {
            this.problem = error.message;
        }
        changed();
        // Another request may have ended meanwhile.
        clearTimeout(this.#timer);
        // The view may have been closed during the request.
        if (this.#isOpen) this.#timer = setTimeout(() => this.load(), 2000);
    }
}

/** Closes the current stream, and opens a stream of the messages that match a pattern. */
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
        if (isFirst) begin();
        isFirst = false;
        attempts = 0;
        take(snapshot);
    });
    source.addEventListener("end", reconnect);
    source.onerror = () => {
        // EventSource hides the status of a rejected stream, so a second request asks for the reason.
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
        if (response.status === 503 && model.state === "waiting") enter("full");
        if (!detail || pattern !== model.pattern) return;
        disconnect();
        model.patternProblem = detail;
        enter("refused");
    } catch {
        // The server cannot be reached, and `reconnect` opens the stream later.
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

/** Prepares the model for a new stream. Another instance shows that the program has restarted. */
function begin() {
    if (instance !== model.about.instance) {
        instance = model.about.instance;
        model.rows.clear();
        model.epoch = null;
        model.history = [];
        model.longestLags.clear();
    }
    // A message that ends while no stream is open is possibly never sent again. The snapshots repeat the others.
    for (const [id, row] of model.rows) {
        if (row.state === "waiting") model.rows.set(id, { ...row, state: "unknown" });
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
    for (const pattern of snapshot.removed) model.stats.delete(pattern);
    for (const loop of snapshot.loops) {
        model.longestLags.set(loop.name, Math.max(loop.lag, model.longestLags.get(loop.name) ?? 0));
    }
    const last = model.history.at(-1);
    if (!last || Math.floor(snapshot.time) > Math.floor(last.time)) {
        model.history.push({ time: snapshot.time, ...snapshot.bus });
        // The samples from before a time without a stream are older.
        while (model.history[0].time < snapshot.time - keptSeconds - 1) model.history.shift();
    }
    // The snapshot with the shortest delay gives the most accurate start.
    const epoch = Date.now() / 1000 - snapshot.time;
    model.epoch = Math.min(epoch, model.epoch ?? epoch);
    const ids = snapshot.rows.map((row) => row.id);
    // The model has the rows already. Kept here as well, deleted rows would live until the next snapshot.
    model.snapshot = { ...snapshot, rows: null, routes: null };
    report(ids);
}

/** Formats a time of the console as the local time of this machine. */
export function clock(time) {
    const date = new Date((model.epoch + time) * 1000);
    const pad = (value, width) => String(value).padStart(width, "0");
    const parts = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part, 2));
    return `${parts.join(":")}.${pad(date.getMilliseconds(), 3)}`;
}

// A hidden page closes its stream, so that it costs the program nothing.
document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
        disconnect();
        model.streams += 1;
        enter("away");
    } else {
        connect();
    }
});
