// A customer of the shop: a program with the client that `.ci/clients` generates into this folder.
import Waybill
import WaybillServe

guard CommandLine.arguments.count == 2 else { fatalError("usage: Customer SOCKET") }
let shop = try ShopClient(RPCConnector(.unix(CommandLine.arguments[1])))

/// Ends the program unless a condition holds.
func check(_ condition: Bool, _ text: String) {
    guard condition else { fatalError(text) }
}

check(try await shop.isCurrent() == true, "the server has other routes than the client")
let kettle = try await shop.catalog.product(id: "copper-kettle")
check(kettle.name == "Copper Kettle 1.2 l" && kettle.price == 5490, "the product is \(kettle)")
let session = try await shop.accounts.signIn(name: "Lili").token
_ = try await shop.cart.add(product: "copper-kettle", quantity: 2, session: session)
let order = try await shop.orders.place(session: session)
check(order.lines.map(\.quantity) == [2], "the order is \(order)")

// The shop asks for a confirmation in a progress reply, and the answer confirms.
var requests = 0
let receipt = try await shop.payments.pay(order: order.id, session: session) { request in
    check(request.order == order.id, "the request is \(request)")
    requests += 1
    return .confirm
}
check(receipt.order == order.id && requests == 1, "the receipt is \(receipt), after \(requests) requests")

do {
    _ = try await shop.catalog.product(id: "no-such-thing", options: .init(timeout: .seconds(5)))
    fatalError("a product that the shop does not have is found")
} catch {
    check(error.message.contains("no-such-thing"), error.message)
}

print("Swift: a typed client of the shop")
try await Speed(CommandLine.arguments[1]).measure(limit: 1.05)
