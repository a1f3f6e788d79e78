// The view of the durable stores that the program has configured: figures, dead letters and schedules.
import { byId, count, duration, make, notShown, setText } from "./elements.js";
import { readOnlyReason } from "./form.js";
import { ask, model, Poll } from "./stream.js";

const poll = new Poll("api/stores");
let shown = null;

/** Asks a store to send a dead letter again, with a new count of attempts. */
async function retry(store, letter) {
    try {
        const call = { url: `${store.url}/retry`, parameters: { id: letter.id } };
        const { failure } = await ask("api/call", call);
        const text = `the store was asked to send message ${letter.id} again`;
        setText(byId("retry-outcome"), failure?.message ?? text);
    } catch (error) {
        setText(byId("retry-outcome"), error.message);
    }
    poll.load();
}

/** Formats an age in milliseconds, in the largest unit that fits. */
function age(millis) {
    if (millis == null || millis < 60_000) return duration(millis == null ? null : millis * 1000);
    const [unit, length] = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000]]
        .find(([, candidate]) => millis >= candidate);
    return `${Math.floor(millis / length)} ${unit}`;
}

/** Formats a time in milliseconds since 1970. The Swedish format has year, month and day in this order. */
const moment = (millis) => new Date(millis).toLocaleString("sv");

function table(title, columns, rows) {
    const heads = columns.map(([name, text]) => make("th", { class: name }, text));
    const cells = (row) => row.map((cell, place) => make("td", {
        class: columns[place][0], title: typeof cell === "string" ? cell : null,
    }, cell));
    return make("table", { "aria-label": title }, make("thead", {}, make("tr", {}, ...heads)),
        make("tbody", {}, ...rows.map((row) => make("tr", {}, ...cells(row)))));
}

function letterTable(store, mayAct) {
    return table(`Dead letters of ${store.url}`, [
        ["number", "Message"], ["url", "URL"], ["outcome", "Reason"], ["number", "Attempts"],
        ["clock", "Died"], ["act", "Act"],
    ], store.letters.map((letter) => {
        const button = make("button", { type: "button", disabled: !mayAct,
            title: mayAct ? null : readOnlyReason,
            "aria-label": `Retry message ${letter.id} of ${store.url}` }, "Retry");
        button.addEventListener("click", () => retry(store, letter));
        return [`${letter.id}`, letter.url, `${letter.failure.code}: ${letter.failure.message}`,
            `${letter.attempts}`, moment(letter.died), button];
    }));
}

function scheduleTable(store) {
    return table(`Schedules of ${store.url}`,
        [["name", "Schedule"], ["url", "URL"], ["module", "Rule"], ["next", "Next"]],
        store.schedules.map((item) => [item.name, item.url, item.rule, moment(item.next)]));
}

function card(store, mayAct) {
    const { statistics } = store;
    const figures = {
        backlog: count(statistics.waiting), "age of the oldest": age(statistics.oldestAge),
        underway: count(statistics.underway), "dead letters": count(statistics.dead),
        attempts: count(statistics.attempts),
        "mean commit": duration(statistics.commits ? statistics.commitTime / statistics.commits : null),
        bytes: count(statistics.size),
    };
    const title = make("h3", {}, store.url);
    if (store.failure) {
        return make("div", { class: "card wide" }, title,
            make("p", { class: "problem" }, `${store.failure.code}: ${store.failure.message}`));
    }
    const hidden = notShown(statistics.dead - store.letters.length);
    return make("div", { class: "card wide" }, title,
        make("dl", {}, ...Object.entries(figures).map(([name, text]) =>
            make("div", {}, make("dt", {}, name), make("dd", {}, text)))),
        store.letters.length ? letterTable(store, mayAct) : null,
        hidden ? make("p", { class: "soft" }, `the oldest dead letters${hidden}`) : null,
        store.schedules.length ? scheduleTable(store) : null);
}

export const storesView = {
    open: () => poll.open(),

    close() {
        poll.close();
        setText(byId("retry-outcome"), "");
    },

    render() {
        const { answer, problem } = poll;
        const mayAct = model.about?.mayAct ?? false;
        setText(byId("stores-note"), problem ?? (mayAct ? "" : readOnlyReason));
        const text = JSON.stringify([answer, mayAct]);
        if (!answer || text === shown) return;
        shown = text;
        const buttons = () => [...byId("stores").querySelectorAll("button")];
        const place = buttons().indexOf(document.activeElement);
        const focused = document.activeElement?.ariaLabel;
        byId("stores").replaceChildren(...(answer.stores.length
            ? answer.stores.map((store) => card(store, mayAct))
            : [make("p", { class: "none" }, "The program shows no store. Add the URL of a store to `stores` in the configuration of the console.")]));
        if (place < 0) return;
        // The button of the same message keeps the focus. If the message has left, the next message gets it.
        (buttons().find((button) => button.ariaLabel === focused) ?? buttons()[place] ?? buttons().at(-1))?.focus();
    },
};
