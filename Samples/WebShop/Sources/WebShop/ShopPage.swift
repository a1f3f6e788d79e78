internal import Foundation
internal import Hummingbird

/// A page of the shop, whose script calls the routes with the client that `waybill client --typescript` generates.
struct ShopPage {
    private let script: String

    /// Reads the client, which `tsc` has compiled to JavaScript.
    init(clientAt path: String) throws { self.script = try String(contentsOfFile: path, encoding: .utf8) }

    func addRoutes(to router: Router<BasicRequestContext>) {
        router.get("/") { _, _ in Self.response("text/html", Self.page) }
        router.get("/shop.js") { _, _ in Self.response("text/javascript", self.script) }
    }

    private static func response(_ type: String, _ text: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "\(type); charset=utf-8"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: text))
        )
    }

    private static let page = """
        <!doctype html>
        <html lang="en">
        <title>Web shop</title>
        <form id="search"><label>Search <input name="text" value="kettle"></label> <button>Show</button></form>
        <ul id="products"></ul>
        <p id="order" role="status"></p>
        <h1>Reviews</h1>
        <ul id="reviews"></ul>
        <script type="module">
        import { ShopClient, WaybillError } from "./shop.js";

        const shop = new ShopClient(`${location.origin}/bus`, { timeout: 10000 });
        const find = (id) => document.getElementById(id);
        let session;

        async function buy(product) {
            session ??= (await shop.accounts.signIn({ name: "Lili" })).token;
            await shop.cart.add({ product: product.id, session });
            const order = await shop.orders.place({ session });
            const receipt = await shop.payments.pay({ order: order.id, confirm: true, session });
            find("order").textContent = `Order ${receipt.order}: ${product.name} is paid.`;
        }

        async function show(text) {
            const items = (await shop.catalog.search({ text })).map((product) => {
                const [item, button] = [document.createElement("li"), document.createElement("button")];
                button.textContent = "Buy";
                button.onclick = () => attempt(buy(product));
                item.append(`${product.name}: ${Number(product.price) / 100} € `, button);
                return item;
            });
            find("products").replaceChildren(...items);
        }

        async function follow() {
            for await (const message of shop.subscribe("app://reviews/:product")) {
                const item = document.createElement("li");
                item.textContent = `${message.parameters.product}: ${message.parameters.stars} stars`;
                find("reviews").prepend(item);
            }
        }

        async function attempt(work) {
            try {
                await work;
            } catch (error) {
                if (!(error instanceof WaybillError)) throw error;
                find("order").textContent = error.message;
            }
        }

        find("search").onsubmit = (event) => {
            event.preventDefault();
            attempt(show(event.target.elements.text.value));
        };
        attempt(show("kettle"));
        attempt(follow());
        </script>
        </html>
        """
}
