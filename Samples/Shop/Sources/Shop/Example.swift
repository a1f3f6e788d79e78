/// A URL that shows a feature of the shop.
///
/// The examples build on each other in their order.
struct Example {
    let url: String
    let summary: String

    static let all = [
        Example(url: "app://accounts/users", summary: "list the customers"),
        Example(url: "app://accounts/sign-in?name=Lili", summary: "sign in"),
        Example(url: "app://catalog/categories", summary: "list the categories"),
        Example(url: "app://catalog/category/kitchen", summary: "list the products of a category"),
        Example(url: "app://catalog/search?text=tea&limit=5", summary: "search the products"),
        Example(url: "app://catalog/product?id=copper-kettle", summary: "show a product"),
        Example(url: "app://cart/add?product=copper-kettle&quantity=2", summary: "add a product to the cart"),
        Example(url: "app://cart/show", summary: "show the cart"),
        Example(url: "app://cart/remove?product=copper-kettle", summary: "remove a product from the cart"),
        Example(url: "app://orders/place", summary: "place an order"),
        Example(url: "app://orders/mine", summary: "list your orders"),
        Example(url: "app://orders/detail/1", summary: "show an order"),
        Example(url: "app://payments/pay?order=1", summary: "pay for an order; asks for confirmation"),
        Example(url: "app://payments/pay?order=1#activity/receipt", summary: "pay, with a return URL"),
        Example(url: "app://payments/receipt?order=1", summary: "show a receipt"),
        Example(url: "app://orders/cancel/1", summary: "cancel an order"),
        Example(url: "app://activity/recent?limit=5", summary: "list the last events"),
        Example(url: "app://accounts/sign-out", summary: "sign out"),
    ]
}
