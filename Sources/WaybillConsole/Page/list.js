import { make } from "./elements.js";

/**
 * The rows of a table. A person selects a row with the pointer or the keys.
 *
 * A row is filled again when its item has changed, and is moved when the order has changed. A row whose item
 * has gone is reused for a new item, so a busy list creates few elements.
 */
export class RowList {
    #body;
    #columns;
    #key;
    #fill;
    #open;
    #rows = new Map();
    #items = [];
    #current = null;
    #selected = null;

    /**
     * Takes over the rows of a table.
     *
     * `columns` are the classes of the cells, and `key(item)` identifies an item. `fill(cells, item)` writes
     * the cells of a row, and `open(item)` is called when a person selects a row.
     */
    constructor(table, { columns, key, fill, open }) {
        this.#body = table.tBodies[0];
        for (const part of [table.tHead, this.#body]) part.role = "rowgroup";
        table.tHead.rows[0].role = "row";
        for (const cell of table.tHead.rows[0].cells) cell.role = "columnheader";
        this.#columns = columns;
        this.#key = key;
        this.#fill = fill;
        this.#open = open;
        this.#body.addEventListener("click", (event) => this.#choose(event.target.closest("tr")));
        this.#body.addEventListener("keydown", (event) => {
            if (event.key === "Enter" && event.target.matches("tr")) this.#choose(event.target);
        });
    }

    get hasFocus() { return this.#body.contains(document.activeElement); }

    /** Shows items in this order. */
    show(items) {
        const keys = new Set(items.map(this.#key));
        const spare = [];
        const focused = this.hasFocus ? document.activeElement : null;
        const isKept = focused && keys.has(this.#key(focused.closest("tr").item));
        for (const [key, row] of this.#rows) {
            if (keys.has(key)) continue;
            this.#rows.delete(key);
            spare.push(row);
        }
        let next = this.#body.firstElementChild;
        for (const item of items) {
            const row = this.#row(item, spare);
            if (row === next) next = next.nextElementSibling;
            else this.#body.insertBefore(row, next);
        }
        for (const row of spare) row.remove();
        // A row that is moved loses the focus.
        if (isKept && document.activeElement !== focused) focused.focus({ preventScroll: true });
        this.#items = items;
        if (!this.#rows.has(this.#current)) this.#enter(items.length ? this.#key(items[0]) : null);
    }

    #row(item, spare) {
        const key = this.#key(item);
        let row = this.#rows.get(key);
        if (!row) {
            row = spare.pop() ?? this.#empty();
            row.tabIndex = key === this.#current ? 0 : -1;
            row.ariaSelected = key === this.#selected;
            this.#rows.set(key, row);
        }
        if (row.item !== item) {
            row.item = item;
            this.#fill(row.cells, item);
        }
        return row;
    }

    /** Makes an empty row. It needs roles, because the style sheet lays it out as a box. */
    #empty() {
        const cells = this.#columns.map((name) => make("td", { class: name, role: "gridcell" }));
        return make("tr", { role: "row" }, ...cells);
    }

    /** Moves the focus by `step` rows, or to the current row if no row has the focus. */
    move(step) {
        if (!this.#items.length) return;
        const index = this.#items.findIndex((item) => this.#key(item) === this.#current);
        const target = this.hasFocus ? index + step : index;
        this.#enter(this.#key(this.#items[Math.min(Math.max(target, 0), this.#items.length - 1)]));
        this.#rows.get(this.#current).focus();
    }

    /** Marks the item with a key as selected. Null selects no item. */
    select(key) {
        const before = this.#rows.get(this.#selected);
        if (before) before.ariaSelected = false;
        this.#selected = key;
        const row = this.#rows.get(key);
        if (row) row.ariaSelected = true;
        if (row) this.#enter(key);
    }

    /** Makes the row with a key the row that the Tab key reaches. */
    #enter(key) {
        const before = this.#rows.get(this.#current);
        if (before) before.tabIndex = -1;
        this.#current = key;
        const row = this.#rows.get(key);
        if (row) row.tabIndex = 0;
    }

    #choose(row) {
        if (!row) return;
        this.#enter(this.#key(row.item));
        row.focus();
        this.#open(row.item);
    }
}
