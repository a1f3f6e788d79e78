/// A URL that shows a feature of the shop.
///
/// The examples are in a meaningful order.
struct Example {
    let url: String
    let summary: String

    static let all = [
        Example(url: "app://accounts/users", summary: "who may sign in"),
        Example(url: "app://accounts/sign-in?name=Lili", summary: "sign in"),
        Example(url: "app://catalog/categories", summary: "what there is"),
        Example(url: "app://catalog/category/kitchen", summary: "what is on a shelf"),
        Example(url: "app://catalog/search?text=tea&limit=5", summary: "look for something"),
        Example(url: "app://catalog/product?id=copper-kettle", summary: "look at one thing"),
        Example(url: "app://cart/add?product=copper-kettle&quantity=2", summary: "put it into the cart"),
        Example(url: "app://cart/show", summary: "look into the cart"),
        Example(url: "app://cart/remove?product=copper-kettle", summary: "take it out again"),
        Example(url: "app://orders/place", summary: "order what is in the cart"),
        Example(url: "app://orders/mine", summary: "all your orders"),
        Example(url: "app://orders/detail/1", summary: "one of them"),
        Example(url: "app://payments/pay?order=1", summary: "pay for it; you are asked first"),
        Example(url: "app://payments/pay?order=1#activity/receipt", summary: "pay, and send the receipt on"),
        Example(url: "app://payments/receipt?order=1", summary: "see the receipt"),
        Example(url: "app://orders/cancel/1", summary: "change your mind"),
        Example(url: "app://activity/recent?limit=5", summary: "what has happened"),
        Example(url: "app://accounts/sign-out", summary: "leave"),
    ]
}
