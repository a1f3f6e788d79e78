import Testing

@testable import WaybillRouting

@Suite
struct PassedValuesTests {
    @Test
    func `the newest passed value of a name is used, whatever its type`() {
        var values = PassedValues.make(["a": 1, "b": "x"])
        values = PassedValues("a", number: 2, over: values)
        values = PassedValues("c", "y", over: values)
        values = PassedValues("b", number: 3, over: values)
        values = PassedValues.make(["c": 4], over: values)
        #expect(values?["a"] as? Int == 2)
        #expect(values?["b"] as? Int == 3)
        #expect(values?["c"] as? Int == 4)
        #expect(values?["d"] == nil)
        #expect(values?.dictionary.mapValues { "\($0)" } == ["a": "2", "b": "3", "c": "4"])
    }

    @Test
    func `a number that a later value replaces is not read`() {
        let number = PassedValues("a", number: 1, over: nil)
        #expect(number.reading("a") == .number(1))
        #expect(number.reading("b") == nil)
        #expect(PassedValues("b", "x", over: number).reading("a") == .number(1))
        #expect(PassedValues("a", "x", over: number).reading("a") == .needsText)
        #expect(PassedValues.make(["a": "x"], over: number)?.reading("a") == .needsText)
    }

    @Test
    func `passing an empty dictionary adds no values`() {
        #expect(PassedValues.make([:]) == nil)
        let number = PassedValues("a", number: 1, over: nil)
        #expect(PassedValues.make([:], over: number) === number)
    }
}
