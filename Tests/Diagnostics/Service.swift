import Waybill

final class Basket {}
struct Item: Sendable {}

@Service("app://store")
protocol Store: Sendable {
    typealias Items = [Item]

    func load(id: Int) async throws -> Basket  // error: 'Basket'

    func keep(
        basket: Basket,  // error: 'Basket'
        item: Item
    ) async throws -> Items
}
