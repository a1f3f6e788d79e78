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
    /// The shop has no such category.
    case unknownCategory(String)
    /// The quantity is less than one, or more than the shop sells at a time.
    case badQuantity(Int)
    /// The stock is less than the quantity.
    case outOfStock(product: String, left: Int)
    /// The cart does not contain the product.
    case notInCart(String)
    /// The cart is empty.
    case emptyCart
    /// The customer has no such order.
    case unknownOrder(Int)
    /// The order is already paid or cancelled.
    case orderIsClosed(Int, Order.Status)
    /// The customer cancelled the payment.
    case paymentCancelled(order: Int)
    /// The URL does not confirm the payment, and its caller does not answer questions.
    case nobodyToAsk(order: Int)
    /// The order is not cancelled, or has been refunded already.
    case noRefund(order: Int)
    /// The order has not been paid.
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
