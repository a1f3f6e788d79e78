import Testing
import WaybillRouting

@Suite
struct AddressTransitionTests {
    /// A URL and its expected parts; `-` stands for nil.
    struct Case: Sendable {
        let url: String
        let transition: String
        let path: String
        var host = "-"
        var rule = RoutingConventions.Host.isFirstSegment
    }

    private static let cases = [
        Case(url: "app://push/user/detail?uid=1", transition: "push", path: "user,detail"),
        Case(url: "app:///PUSH/x", transition: "push", path: "x"),
        Case(url: "app://Present/x#home", transition: "present", path: "x"),
        Case(url: "%70ush/x", transition: "push", path: "x"),
        Case(url: "app://back", transition: "back", path: ""),
        Case(url: "app://back/", transition: "back", path: ""),
        Case(url: "app://slide/用户/1", transition: "slide", path: "用户,1"),
        Case(url: "app://user/push", transition: "-", path: "user,push"),
        Case(url: "app://pushy/x", transition: "-", path: "pushy,x"),
        Case(url: "app://", transition: "-", path: ""),
        Case(url: "app://push/push/x", transition: "push", path: "push,x"),
        Case(url: "app://market/push/x", transition: "push", path: "x", host: "market", rule: .isIgnored),
        Case(url: "app://push/x", transition: "-", path: "x", host: "push", rule: .isIgnored),
        Case(url: "app:///push/x", transition: "push", path: "x", rule: .isIgnored),
        Case(url: "app://a.com/push/x", transition: "push", path: "x", host: "a.com", rule: .dotted),
        Case(url: "app://push/x", transition: "push", path: "x", rule: .dotted),
        Case(url: "app://market/x", transition: "-", path: "market,x", rule: .dotted),
        Case(url: "app://a.com/x", transition: "-", path: "a.com,x"),
    ]

    @Test(arguments: Self.cases)
    func `the first segment behind a host is the transition if it is a verb of the conventions`(
        expected: Case
    ) throws {
        var conventions = RoutingConventions()
        conventions.leadingVerbs = ["push", "present", "back", "slide"]
        conventions.host = expected.rule
        let address = try Address(expected.url, conventions: conventions)
        #expect(address.transition?.rawValue ?? "-" == expected.transition)
        #expect(address.segments.joined(separator: ",") == expected.path)
        #expect(address.host ?? "-" == expected.host)
    }

    @Test
    func `a URL without a verb has no transition`() throws {
        let address = try Address("app://push/x")
        #expect(address.transition == nil)
        #expect(address.segments == ["push", "x"])
    }
}

extension RoutingConventions.Host {
    fileprivate static let dotted = Self.isFirstSegmentUnlessDotted
}
