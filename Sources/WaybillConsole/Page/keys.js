import { byId } from "./elements.js";

const isField = (element) => element.matches("input, textarea, select");

/** Binds the keys of the page. `names` are the views in order, and `current` returns the shown view. */
export function bindKeys(names, current) {
    const actions = {
        "/": () => current().filter?.focus(),
        "?": () => byId("keys").showModal(),
        e: () => {
            location.hash = "routes";
            // The view is shown only after the fragment has changed, so the focus waits.
            setTimeout(() => byId("explain").elements.url.focus());
        },
        j: () => current().list?.move(1),
        k: () => current().list?.move(-1),
        ArrowDown: () => current().list?.move(1),
        ArrowUp: () => current().list?.move(-1),
        p: () => current().pause?.(),
        Escape: () => current().escape?.(),
    };
    for (const [index, name] of names.entries()) {
        actions[index + 1] = () => { location.hash = name; };
    }
    byId("help").addEventListener("click", actions["?"]);
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || byId("keys").open) return;
        if (isField(event.target)) {
            if (event.key === "Escape") event.target.blur();
            return;
        }
        // Arrow keys move in the list, but they scroll in a side panel and in a view without a list.
        if (event.key.startsWith("Arrow") && (!current().list || event.target.closest("aside"))) return;
        const action = actions[event.key];
        if (!action) return;
        event.preventDefault();
        action();
    });
}
