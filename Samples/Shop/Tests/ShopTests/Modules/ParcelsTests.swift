import Foundation
import Testing

@Suite
struct ParcelsTests {
    @Test func `an order whose process was killed is shipped once`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID()).db").path
        defer {
            for suffix in ["", "-wal", "-lock"] { try? FileManager.default.removeItem(atPath: file + suffix) }
        }
        let killed = try ShopProcess("ship", "7", "--data", file, "--kill")
        #expect(killed.status != 0)
        #expect(killed.lines == ["order 7: attempt 1"])
        let shipped = try ShopProcess("ship", "7", "--data", file)
        #expect(shipped.status == 0)
        #expect(shipped.lines == ["order 7: attempt 2", "parcels of order 7: 1"])
        let again = try ShopProcess("ship", "7", "--data", file)
        #expect(again.lines == ["parcels of order 7: 1"])
    }

    @Test func `the error of a file that cannot be opened contains its name`() throws {
        let shop = try ShopProcess("ship", "7", "--data", "/nowhere/shop.db")
        #expect(shop.status != 0)
        #expect(shop.errors.contains("/nowhere/shop.db"))
    }
}
