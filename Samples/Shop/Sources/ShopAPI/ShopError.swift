/// The error of a module that cannot handle a request.
///
/// The caller receives it as the cause of a `RoutingError` with the code `handlerFailed`.
public enum ShopError: Error, Hashable, Sendable {
    /// No customer has this name.
    case unknownCustomer(String)
    /// The parameter `session` is missing, or its session has ended.
    case notSignedIn
    /// The shop has no such product.
    case unknownProduct(String)
    /// The shop has no such shelf.
    case unknownCategory(String)
    /// Less than one, or more than the shop sells at a time.
    case badQuantity(Int)
    /// Fewer are left than were asked for.
    case outOfStock(product: String, left: Int)
    /// The cart has no such product in it.
    case notInCart(String)
    /// There is nothing to order.
    case emptyCart
    /// The customer has no such order.
    case unknownOrder(Int)
    /// An order that is paid or cancelled already.
    case orderIsClosed(Int, Order.Status)
    /// The customer cancelled the payment.
    case paymentCancelled(order: Int)
    /// The URL does not confirm the payment, and its caller does not answer questions.
    case nobodyToAsk(order: Int)
    /// The order stands, or the money has been given back already.
    case noRefund(order: Int)
    /// This order has not been paid.
    case noReceipt(order: Int)
}

extension ShopError: CustomStringConvertible {
    /// A sentence with the problem and the remedy.
    public var description: String {
        switch self {
        case .unknownCustomer(let name): "there is no customer \(name); see app://accounts/users"
        case .notSignedIn: "sign in first: app://accounts/sign-in?name=Lili"
        case .unknownProduct(let id): "there is no product \(id)"
        case .unknownCategory(let name): "there is no category \(name); see app://catalog/categories"
        case .badQuantity(let quantity): "the quantity \(quantity) is not allowed; use 1 to 99"
        case .outOfStock(let product, let left): "only \(left) of \(product) are left"
        case .notInCart(let id): "there is no \(id) in the cart"
        case .emptyCart: "the cart is empty"
        case .unknownOrder(let id): "you have no order \(id)"
        case .orderIsClosed(let id, let status): "order \(id) is \(status.rawValue) already"
        case .paymentCancelled(let order): "the customer cancelled the payment of order \(order)"
        case .nobodyToAsk(let order):
            "the payment of order \(order) needs a confirmation: add confirm=true, or answer the progress reply"
        case .noRefund(let order): "order \(order) has no payment to refund"
        case .noReceipt(let order): "order \(order) has not been paid"
        }
    }
}
