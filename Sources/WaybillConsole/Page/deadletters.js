// The view of dead letters by reason and route, which replays a letter or a group as new messages.
import { byId, count, make, notShown, plural, setText } from "./elements.js";
import { readOnlyReason } from "./form.js";
import { RowList } from "./list.js";
import { ask, changed, clock, model } from "./stream.js";

const patience = 1000;

let answer = null;
/** The stream and the number of dead letters at the time when the answer was requested. */
let asked = null;
let isAsking = false;
let askedAt = -Infinity;
/** The elements, the list and the letters of each group, by reason and route. */
const groups = new Map();
let confirming = null;
/** Whether a replay is in progress. All buttons wait for its answer, so that no letter is replayed twice. */
let isReplaying = false;

const columns = [
    ["clock", "Time"], ["url", "URL"], ["outcome", "Message"], ["replayed", "Replayed as"], ["act", "Act"],
];

const keyOf = (group) => `${group.code} ${group.pattern ?? ""}`;

async function load() {
    isAsking = true;
    askedAt = performance.now();
    const wanted = `${model.streams} ${model.snapshot?.deadLetters}`;
    try {
        answer = await ask("api/deadletters");
        asked = wanted;
    } catch (error) {
        setText(byId("replay-outcome"), error.message);
    }
    isAsking = false;
    changed();
}

/** Loads the dead letters when their number or the stream has changed, at most once a second. */
function loadIfDue() {
    if (isAsking || asked === `${model.streams} ${model.snapshot?.deadLetters}`) return;
    if (performance.now() - askedAt >= patience) load();
}

async function replay(what) {
    if (isReplaying) return;
    isReplaying = true;
    renderButtons();
    try {
        const { replayed } = await ask("api/deadletters/replay", what);
        const failed = replayed.filter((letter) => letter.failure);
        const reason = failed[0]?.failure.message;
        const failures = reason ? `, ${count(failed.length)} failed: ${reason}` : "";
        setText(byId("replay-outcome"), `${plural(replayed.length, "message")} replayed${failures}`);
    } catch (error) {
        setText(byId("replay-outcome"), error.message);
    }
    await load();
    isReplaying = false;
    renderButtons();
}

/** Marks all buttons as disabled during a replay. The attribute `disabled` would take the focus away. */
function renderButtons() {
    for (const button of byId("groups").querySelectorAll("button")) button.ariaDisabled = isReplaying;
}

/** The letters of a group that were not yet replayed with success. */
const replayable = (letters) => letters.filter((letter) => letter.canReplay && !letter.isReplayed);

/**
 * Asks for confirmation at the first click, and replays the letters of a group at the second click.
 *
 * A letter that arrives between the two clicks is not replayed.
 */
function replayGroup(part) {
    if (isReplaying) return;
    if (confirming?.part === part) {
        replay({ ids: confirming.ids });
        confirming = null;
    } else {
        const choice = { part, ids: replayable(part.letters).map((letter) => letter.id) };
        confirming = choice;
        setTimeout(() => {
            if (confirming === choice) confirming = null;
            changed();
        }, 4000);
    }
    renderButton(part);
}

function renderButton(part) {
    const ids = confirming?.part === part ? confirming.ids : null;
    setText(part.button, ids ? `Replay ${plural(ids.length, "message")} now?` : "Replay these");
}

function makeGroup() {
    const heads = columns.map(([name, text]) => make("th", { class: name }, text));
    const table = make("table", { role: "grid" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody"));
    const title = make("h3");
    const button = make("button", { type: "button" });
    const part = { title, button, table, letters: [] };
    part.element = make("div", { class: "group" }, make("div", { class: "bar" }, title, button), table);
    button.addEventListener("click", () => replayGroup(part));
    part.list = new RowList(table, {
        columns: columns.map(([name]) => name),
        key: (item) => item.letter.id,
        fill,
        open: ({ letter }) => { location.hash = `live/${encodeURIComponent(letter.id)}`; },
    });
    return part;
}

function fill(cells, { letter, mayAct }) {
    setText(cells[0], clock(letter.time));
    setText(cells[1], letter.url);
    setText(cells[2], letter.message);
    cells[1].title = `${letter.url}\n${letter.isAwaited ? "a caller awaited it" : "no caller awaited it"}`;
    cells[2].title = letter.message;
    // Elements that are not replaced keep the focus.
    const ids = letter.replayedAs.slice(-3);
    if (cells[3].textContent !== ids.map((id) => `${id} `).join("")) {
        cells[3].replaceChildren(...ids.flatMap((id) => [
            make("a", { href: `#live/${encodeURIComponent(id)}` }, id), " "]));
    }
    const button = cells[4].firstChild ?? cells[4].appendChild(make("button", { type: "button" }, "Replay"));
    button.disabled = !mayAct || !letter.canReplay;
    button.title = mayAct ? "" : readOnlyReason;
    button.ariaLabel = `Replay ${letter.url}`;
    button.ariaDisabled = isReplaying;
    button.onclick = (event) => {
        // The click must not reach the row, which would open the flow.
        event.stopPropagation();
        replay({ ids: [letter.id] });
    };
    cells[3].onclick = (event) => event.stopPropagation();
}

function renderGroup(part, group, words) {
    const mayAct = model.about?.mayAct ?? false;
    const text = (letter) => `${group.code} ${letter.url} ${letter.message}`.toLowerCase();
    const letters = group.letters.filter((letter) => words.every((word) => text(letter).includes(word)))
        .sort((first, second) => second.time - first.time);
    part.letters = letters;
    part.element.hidden = letters.length === 0;
    part.table.ariaLabel = keyOf(group);
    setText(part.title, `${group.code} · ${group.pattern ?? "no route"} · ${plural(group.count, "letter")}`
        + notShown(group.count - letters.length));
    part.button.disabled = !mayAct || replayable(letters).length === 0;
    renderButton(part);
    part.list.show(letters.map((letter) => {
        if (letter.shown?.mayAct !== mayAct) letter.shown = { letter, mayAct };
        return letter.shown;
    }));
}

export const deadLettersView = {
    /** The list that has the focus, or the first visible list. */
    get list() {
        const parts = [...groups.values()].filter((part) => !part.element.hidden);
        return (parts.find((part) => part.list.hasFocus) ?? parts[0])?.list;
    },
    get filter() { return byId("letter-search"); },

    open() {
        byId("letter-search").oninput = changed;
        asked = null;
    },

    escape() { document.activeElement.blur(); },

    render() {
        loadIfDue();
        const mayAct = model.about?.mayAct ?? false;
        byId("replay-note").hidden = mayAct;
        setText(byId("replay-note"), readOnlyReason);
        if (!answer) return;
        const words = byId("letter-search").value.toLowerCase().split(/\s+/).filter(Boolean);
        setText(byId("deadletters-count"), plural(answer.counted, "dead letter") + notShown(answer.dropped));
        const keys = new Set(answer.groups.map(keyOf));
        for (const [key, part] of groups) {
            if (keys.has(key)) continue;
            part.element.remove();
            groups.delete(key);
        }
        for (const group of answer.groups) {
            const part = groups.get(keyOf(group)) ?? makeGroup();
            if (!groups.has(keyOf(group))) byId("groups").append(part.element);
            groups.set(keyOf(group), part);
            renderGroup(part, group, words);
        }
        byId("no-letters").hidden = answer.groups.length > 0;
    },
};
