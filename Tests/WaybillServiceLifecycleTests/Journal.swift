/// What happened, in order.
actor Journal {
    private(set) var values: [Int] = []

    func append(_ value: Int) { self.values.append(value) }
}
