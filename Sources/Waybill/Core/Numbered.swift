/// Values in the order in which they were added, each with a number by which it is removed.
struct Numbered<Value: Sendable>: Sendable {
    private var entries: [(number: Int, value: Value)] = []
    private var lastNumber = 0

    var isEmpty: Bool { self.entries.isEmpty }

    var values: [Value] { self.entries.map(\.value) }

    /// Adds a value, and returns its number.
    mutating func add(_ value: Value) -> Int {
        let number = self.nextNumber()
        self.add(value, as: number)
        return number
    }

    /// Reserves a number for ``add(_:as:)``.
    mutating func nextNumber() -> Int {
        self.lastNumber += 1
        return self.lastNumber
    }

    /// Adds a value with a reserved number.
    mutating func add(_ value: Value, as number: Int) { self.entries.append((number, value)) }

    /// Removes and returns a value, or returns nil when the value has been removed already.
    mutating func remove(_ number: Int) -> Value? {
        self.entries.firstIndex { $0.number == number }.map { self.entries.remove(at: $0).value }
    }

    /// Removes and returns the values that satisfy a condition.
    mutating func takeAll(where condition: (Value) -> Bool = { _ in true }) -> [Value] {
        defer { self.entries.removeAll { condition($0.value) } }
        return self.values.filter(condition)
    }

    mutating func updateAll(_ body: (inout Value) -> Void) {
        for index in self.entries.indices { body(&self.entries[index].value) }
    }
}
