import Waybill

/// A class that is not Sendable.
public final class Basket {}
/// A Sendable type.
public struct Item: Sendable {}

/// A service with two types that may not be sent.
@Service("app://store")
public protocol Store: Sendable {
    typealias Items = [Item]

    /// Loads what may not be sent.
    func load(id: Int) async throws -> Basket  // error: 'Basket'

    func keep(
        basket: Basket,  // error: 'Basket'
        item: Item
    ) async throws -> Items
}

/// A service without a URL.
@Service  // error: @Service("app://clock")
public protocol ClockService: Sendable {
    /// Tells the time.
    func time() async throws -> Int
}

@Module  // error: @Module("app://user-list")
actor UserListModule {}

@Module  // error: @Module("app://http-cache")
actor HTTPCacheModule {}
