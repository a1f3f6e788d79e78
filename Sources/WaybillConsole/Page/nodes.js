// The view of the nodes of the cluster that the bus has joined.
import { byId, make, plural, setText } from "./elements.js";
import { model, Poll } from "./stream.js";

const poll = new Poll("api/nodes");
let shown = null;

function card(node) {
    const patterns = node.patterns.map((pattern) => make("li", {}, make("code", {}, pattern)));
    const state = node.isLeaving ? "is leaving" : node.isSelf ? "this node" : "";
    return make("div", { class: "card" },
        make("h3", {}, node.name, state ? make("span", { class: "tag" }, state) : null),
        make("p", { class: "soft" }, `${node.id} · heard of ${node.age.toFixed(1)} s ago`),
        patterns.length ? make("ul", {}, ...patterns) : make("p", { class: "soft" }, "shares nothing"));
}

export const nodesView = {
    open: () => poll.open(),
    close: () => poll.close(),

    render() {
        const { answer, problem } = poll;
        const realm = answer?.joined ? `${answer.realm} · ${plural(answer.nodes.length, "node")}` : "";
        setText(byId("nodes-count"), problem ?? realm);
        const text = JSON.stringify([answer, model.state]);
        if (!answer || text === shown) return;
        shown = text;
        byId("nodes").replaceChildren(...(answer.joined ? answer.nodes.map(card)
            : [make("p", { class: "none" }, "This bus has not joined a cluster.")]));
    },
};
