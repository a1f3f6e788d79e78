import Waybill

final class Basket {}
struct Item: Sendable {}
protocol Shape {}

@Module("app://cart")
actor CartModule {
    @Route func count(of shelf: Int) -> Int { shelf }

    @Route func put(
        basket: Basket,  // error: 'Basket'
        number: Int,

        other: Basket?  // error: 'Basket'
    ) -> Item { Item() }

    @Route func keep(_ item: Item, baskets: [Basket]) {}  // error: 'Basket'

    @Route func basket() -> Basket { Basket() }  // error: 'Basket'

    @Route
    func items() async throws
        -> [Item]
    { [] }

    @Route func wash(progress: ProgressReplies<Int, Void>) {}  // error: the method must be `async`

    @Route func wrap(
        progress: ProgressReplies<Int, Bool>,
        other: ProgressReplies<String, Void>  // error: a route has one type of progress replies
    ) async {}

    #if os(Linux)
    @Route("/shapes")
    func shapes()
        -> [any Shape]  // error: 'any Shape'
    { [] }
    #endif
}
