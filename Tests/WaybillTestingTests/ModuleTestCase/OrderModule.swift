import Waybill
import WaybillEventLoop

/// A module that follows the conventions, written by hand like the code that the macros generate.
actor OrderModule: Module {
    static let url = "order://"
    nonisolated let context = ModuleContext.current

    enum Color: String, Sendable { case red, green }

    struct NoSuchOrder: Error {}

    static let routes: [ModuleRoute<OrderModule>] = [
        ModuleRoute("order://all", action: "all", documentation: "All orders.") { _, _ -> [String] in
            ["one", "two"]
        },
        ModuleRoute("order://detail/:uid", action: "detail", parameters: [.init("uid", "Int")]) {
            _,
            message -> Int in
            try message.argument("uid") as Int
        },
        ModuleRoute(
            "order://sum",
            action: "sum",
            parameters: [
                .init("price", "Double"), .init("isPaid", "Bool"), .init("name", "String"),
                .init("note", "String", default: "none"),
            ]
        ) { _, message -> Double in
            let isPaid = try message.argument("isPaid") as Bool
            _ = try message.argument("name") as String
            return isPaid ? 0 : try message.argument("price") as Double
        },
        ModuleRoute("order://paint", action: "paint", parameters: [.init("color", "Color")]) {
            _,
            message -> Color in
            try message.argument("color") as Color
        },
        ModuleRoute(
            "order://pay",
            action: "pay",
            parameters: [.init("total", "UInt8"), .init("paySuccess", "@Sendable (Int) -> Void")]
        ) { _, message -> Void in
            let paySuccess = try message.argument("paySuccess") as @Sendable (Int) -> Void
            paySuccess(Int(try message.argument("total") as UInt8))
        },
        ModuleRoute("order://find/:id", action: "find", parameters: [.init("id", "Int")]) {
            _,
            message -> Void in
            _ = try message.argument("id") as Int
            throw NoSuchOrder()
        },
        ModuleRoute("order://size/<int:n>/**rest", action: "size", parameters: [.init("n", "Int")]) {
            _,
            message -> String in
            "\(try message.argument("n") as Int) \(message.parameters["rest"] ?? "")"
        },
    ]
}

struct Piece: Sendable { let name: String }

/// A module that reads arrays of each kind.
actor ArrayModule: Module {
    static let url = "arrays://"
    nonisolated let context = ModuleContext.current

    static let routes: [ModuleRoute<ArrayModule>] = [
        ModuleRoute("arrays://colors", action: "colors", parameters: [.init("colors", "[Color]")]) {
            _,
            message -> Int in
            (try message.argument("colors") as [OrderModule.Color]).count
        },
        ModuleRoute("arrays://pieces", action: "pieces", parameters: [.init("pieces", "[Piece]")]) {
            _,
            message -> Int in
            (try message.argument("pieces") as [Piece]).count
        },
        ModuleRoute("arrays://counts", action: "counts", parameters: [.init("counts", "[String: Int]")]) {
            _,
            message -> Int in
            (try message.argument("counts") as [String: Int]).count
        },
    ]
}
