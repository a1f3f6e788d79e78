/// The files that routes were registered in; there are far fewer of them than routes.
struct FilePool: Sendable {
    private(set) var names: [String] = []
    private var numbers: [String: UInt32] = [:]

    mutating func number(of name: String) -> UInt32 {
        if let number = self.numbers[name] { return number }
        self.names.append(name)
        let number = UInt32(self.names.count - 1)
        self.numbers[name] = number
        return number
    }
}
