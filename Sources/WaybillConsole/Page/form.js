// The form that calls a route. Its fields come from the schemas of the route's parameters.
import { duration, make, setText } from "./elements.js";
import { ask, model } from "./stream.js";

/** Follows the references of a schema, and chooses the first alternative that is not null. */
function resolve(schema, schemas) {
    let found = schema ?? {};
    for (let depth = 0; depth < 8; depth += 1) {
        const choices = found.anyOf ?? found.oneOf ?? found.allOf;
        if (found.$ref) found = schemas[found.$ref.split("/").at(-1)] ?? {};
        else if (choices) found = choices.find((choice) => choice.type !== "null") ?? {};
        else break;
    }
    return found;
}

const typeOf = (schema) => [schema.type].flat().find((type) => type !== "null");

/** Returns the name of a type and its members, such as `Order {id: integer, total: number}`. */
export function typeName(schema, name, schemas) {
    const found = resolve(schema, schemas);
    const word = (member) => member.$ref?.split("/").at(-1) ?? typeOf(resolve(member, schemas)) ?? "any";
    const members = Object.entries(found.properties ?? {}).map(([key, member]) => `${key}: ${word(member)}`);
    return members.length ? `${name} {${members.join(", ")}}` : (name ?? "any value");
}

/** Returns an example of a value that a schema allows. */
function example(schema, schemas, depth = 3) {
    const found = resolve(schema, schemas);
    if (found.examples || found.enum) return (found.examples ?? found.enum)[0];
    switch (typeOf(found)) {
    case "string": return "text";
    case "integer": case "number": return 1;
    case "boolean": return true;
    case "array": return depth ? [example(found.items, schemas, depth - 1)] : [];
    case "object": {
        const members = depth ? Object.entries(found.properties ?? {}) : [];
        return Object.fromEntries(members.map(([key, member]) => [key, example(member, schemas, depth - 1)]));
    }
    default: return null;
    }
}

/** Makes the control of a parameter. `value` returns the parameter's value, or undefined to omit it. */
function field(parameter, schemas) {
    const schema = resolve(parameter.schema, schemas);
    const type = typeOf(schema);
    const { name, isRequired: required } = parameter;
    const placeholder = parameter.defaultValue ?? (required ? null : "optional");
    const attributes = { name, required, placeholder, autocomplete: "off", spellcheck: "false" };
    if (schema.enum || type === "boolean") {
        const values = schema.enum ?? [true, false];
        const options = values.map((value, index) => make("option", { value: index }, String(value)));
        const none = make("option", { value: "" }, required ? "" : "–");
        const select = make("select", { name, required }, none, ...options);
        return { control: select, value: () => values[select.value] };
    }
    if (type === "integer" || type === "number") {
        const input = make("input", { ...attributes, type: "number", step: type === "integer" ? 1 : "any" });
        // JavaScript rounds large whole numbers, so they are sent as text. The server reads them as numbers.
        const isExact = () => type === "number" || Number.isSafeInteger(Number(input.value));
        const value = () => (isExact() ? Number(input.value) : input.value);
        return { control: input, value: () => (input.value === "" ? undefined : value()) };
    }
    if (type === "string") {
        const input = make("input", attributes);
        return { control: input, value: () => (input.value || required ? input.value : undefined) };
    }
    const json = JSON.stringify(example(parameter.schema, schemas));
    const text = make("textarea", { ...attributes, rows: 3, placeholder: json });
    return { control: text, value: () => (text.value.trim() === "" ? undefined : JSON.parse(text.value)) };
}

/** Returns the reply or the failure of a call as text. */
function outcome({ failure, reply }) {
    if (!failure) return typeof reply === "string" ? reply : JSON.stringify(reply, null, 2);
    const suggestions = failure.suggestions ?? [];
    const question = suggestions.length ? `\nDid you mean ${suggestions.join(", ")}?` : "";
    return `${failure.code}: ${failure.message}${question}`;
}

/** An expression for a name in an address, such as `{uid}` in `app://user/{uid}`. */
const placeholder = /\{([^{}]*)\}/g;
const namesOf = (address) => [...address.matchAll(placeholder)].map((match) => match[1]);

/** Returns the longest address whose values are all given, or else the longest with the given values. */
function urlOf(addresses, given) {
    const complete = addresses.find((address) => namesOf(address).every((name) => given.has(name)));
    return (complete ?? addresses[0]).replace(placeholder, (braces, name) => given.get(name) ?? braces);
}

/** Encodes a value for a URL. A value of the type `path` may have several segments. */
const encode = (text, type) => (type === "path" ? text.split("/") : [text]).map(encodeURIComponent).join("/");

/** The form of a route. It writes the parameters of the path into the URL, and sends the others separately. */
export class CallForm {
    #fields = [];
    #url;
    #controls;
    #reason;
    #outcome;
    #isCalling = false;

    constructor(route, schemas) {
        const value = urlOf(route.addresses, new Map());
        this.#url = make("input", { value, autocomplete: "off", spellcheck: "false" });
        const names = new Set(route.addresses.flatMap(namesOf));
        const rows = route.parameters.map((parameter) => {
            const { control, value } = field(parameter, schemas);
            const { name, type } = parameter;
            const isInURL = names.has(name);
            this.#fields.push({ name, type, value, isInURL });
            if (isInURL) control.addEventListener("input", () => this.#writeURL(route.addresses));
            return make("label", {}, make("span", {}, parameter.name), control);
        });
        this.#controls = make("fieldset", {}, make("legend", {}, "Call it"),
            make("label", {}, make("span", {}, "URL"), this.#url), ...rows, make("button", {}, "Call"));
        this.#reason = make("p", { class: "soft", id: "call-reason" });
        this.#outcome = make("div", { role: "status", class: "outcome" });
        this.element = make("form", { class: "call", "aria-describedby": "call-reason" },
            this.#controls, this.#reason, this.#outcome);
        this.element.addEventListener("submit", (event) => {
            event.preventDefault();
            this.#call();
        });
        this.render();
    }

    #writeURL(addresses) {
        const given = new Map();
        for (const { name, type, value, isInURL } of this.#fields) {
            const text = isInURL ? String(value() ?? "") : "";
            if (text) given.set(name, encode(text, type));
        }
        this.#url.value = urlOf(addresses, given);
    }

    async #call() {
        const parameters = {};
        try {
            for (const { name, value, isInURL } of this.#fields) {
                const given = isInURL ? undefined : value();
                if (given !== undefined) parameters[name] = given;
            }
        } catch (error) {
            this.#report("failed", `the text is not JSON: ${error.message}`);
            return;
        }
        this.#isCalling = true;
        this.render();
        try {
            const answer = await ask("api/call", { url: this.#url.value, parameters, timeout: 10_000 });
            const flow = make("a", { href: `#live/${encodeURIComponent(answer.id)}` }, "its flow");
            const took = ` in ${duration(answer.duration)} · `;
            this.#report(answer.failure ? "failed" : "replied", outcome(answer), took, flow);
        } catch (error) {
            this.#report("failed", error.message);
        }
        this.#isCalling = false;
        this.render();
    }

    #report(state, text, ...more) {
        const title = make("p", { class: state }, state, ...more);
        this.#outcome.replaceChildren(title, make("pre", { tabindex: 0 }, text));
    }

    /** Disables the form during a call, and with a reason while the console is read-only. */
    render() {
        const mayAct = model.about?.mayAct ?? false;
        const isDisabled = !mayAct || this.#isCalling;
        if (this.#controls.disabled !== isDisabled) this.#controls.disabled = isDisabled;
        this.#reason.hidden = mayAct;
        setText(this.#reason, readOnlyReason);
    }
}

export const readOnlyReason = "Read-only. To allow calls and replays, set allowsActions in the program.";
