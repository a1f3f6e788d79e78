import Foundation
import ShopAPI
import Testing

@Suite
struct ShopProcessTests {
    @Test func `the shop prints one line of JSON for each URL`() throws {
        let shop = try ShopProcess("app://catalog/product?id=copper-kettle", "/catalog/categories")
        #expect(shop.status == 0 && shop.errors.isEmpty && shop.lines.count == 2)
        let product = try JSONDecoder().decode(Product.self, from: Data(shop.lines[0].utf8))
        #expect(product.name == "Copper Kettle 1.2 l")
    }

    @Test func `a customer stays signed in for the following URLs`() throws {
        let shop = try ShopProcess(
            "--format",
            "text",
            "app://accounts/sign-in?name=Lili",
            "app://cart/add?product=copper-kettle",
            "app://orders/place",
            "app://payments/pay?order=1&confirm=true"
        )
        #expect(shop.status == 0)
        #expect(shop.lines.last == "receipt 1 for order 1: 54.90")
    }

    @Test func `a session in the URL takes precedence over the remembered one`() throws {
        let shop = try ShopProcess("app://accounts/sign-in?name=Lili", "app://cart/show?session=x")
        #expect(shop.status == 1 && shop.complaints.count == 1)
    }

    @Test(arguments: [
        ("", "nothing here either#"), ("app://", "noRoute"), ("mars://catalog/categories", "noRoute"),
        ("app://catalog/prodcut", "did you mean app://catalog/product"), ("app://catalog/product", "`id`"),
        ("app://orders/detail/seven", "invalidParameter"), ("app://catalog/product?id=%ff", "invalidURL"),
        ("\u{1b}[31m\u{7}bell", "\\u{1B}[31m\\u{07}bell"),
        (String(repeating: "x", count: 20_000), "20000 bytes"),
    ])
    func `an invalid line prints one error, and the next line is delivered`(
        line: String,
        complaint: String
    ) throws {
        let input = Data("\(line)\napp://catalog/product?id=copper-kettle\n".utf8)
        let shop = try ShopProcess(input: input)
        #expect(shop.lines.count == 1)
        if line.isEmpty {
            #expect(shop.status == 0 && shop.errors.isEmpty)
        } else {
            #expect(shop.status == 1 && shop.complaints.count == 1)
            #expect(
                shop.errors.hasPrefix("shop: line 1: ") && shop.errors.contains(complaint),
                "\(shop.errors)"
            )
            #expect(shop.errors.utf8.count < 800)
        }
    }

    @Test func `a megabyte of text on one line prints one error`() throws {
        let text = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        let shop = try ShopProcess(input: text + Data("\n/catalog/categories\n".utf8) + text)
        #expect(shop.lines.count == 1 && shop.complaints.count == 2)
        #expect(shop.complaints[0].hasPrefix("shop: line 1: invalidURL: the line has 1048576 bytes"))
        #expect(shop.complaints[1].hasPrefix("shop: line 3: "))
    }

    @Test func `a line that is not UTF-8 prints one error`() throws {
        let shop = try ShopProcess(input: Data([0xff, 0xfe, 10, 0, 10]) + Data("/catalog/categories".utf8))
        #expect(shop.lines.count == 1 && shop.complaints.count == 2)
        #expect(shop.complaints[0] == "shop: line 1: invalidURL: the line is not UTF-8")
    }

    @Test func `the shop skips blank lines and comments in its input`() throws {
        let shop = try ShopProcess(input: Data("\n  \n# a comment\r\n\t/catalog/categories \r\n".utf8))
        #expect(shop.status == 0 && shop.lines.count == 1 && shop.errors.isEmpty)
    }

    @Test func `ten thousand lines of input are answered in order`() throws {
        let input = (0..<10_000).map { "app://catalog/search?text=kettle&limit=\($0 % 3)\n" }.joined()
        let shop = try ShopProcess(input: Data(input.utf8))
        #expect(shop.status == 0 && shop.lines.count == 10_000)
        let counts = try shop.lines.prefix(6).map {
            try JSONDecoder().decode([Product].self, from: Data($0.utf8)).count
        }
        #expect(counts == [0, 1, 2, 0, 1, 2])
    }

    @Test func `the shop prints the table of routes as text or as JSON`() throws {
        #expect(try ShopProcess("routes").lines.count == 29)
        let json = try ShopProcess("routes", "--format", "json")
        #expect(json.lines.count { $0.contains("\"pattern\" : \"app://") } == 28)
        let page = try ShopProcess("routes", "--format", "markdown").lines
        #expect(page.contains("### `app://catalog/category/:name`"))
        #expect(page.contains("The goods on a shelf."))
    }

    @Test func `the shop's routes have no problems`() throws {
        #expect(
            try ShopProcess("routes", "--check", "app://payments/pay?order=1#activity/receipt").status == 0
        )
    }

    @Test func `the shop's tour runs to its end without an error`() throws {
        let tour = try ShopProcess("tour")
        #expect(tour.status == 0 && tour.errors.isEmpty)
        for text in ["did you mean app://cart/show", "-> cancel", "-> confirm", "which answers message"] {
            #expect(tour.output.contains(text))
        }
    }

    @Test func `a reader that closes the pipe early causes no error output`() throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        let script = "yes /catalog/categories | head -20000 | { \"$0\" 2>&1 >&3 | wc -c >&2; } 3>&1 | head -1"
        process.arguments = ["-c", script, ShopProcess.executable.path]
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let replies = output.fileHandleForReading.readDataToEndOfFile()
        let length = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(replies.starts(with: Data("[{".utf8)))
        #expect(length.trimmingCharacters(in: .whitespacesAndNewlines) == "0")
    }
}
