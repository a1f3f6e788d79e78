import WaybillRouting

extension SeededGenerator {
    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(self.next() % UInt64(elements.count))]
    }

    mutating func chance(_ percent: UInt64) -> Bool { self.next() % 100 < percent }
}
