#if Web
/// The headers of a response.
public struct WebHeaders: Sendable, Hashable {
    /// One header field.
    public struct Field: Sendable, Hashable {
        /// The name, with the spelling that the server has used.
        public var name: String

        /// The value.
        public var value: String

        /// Creates a field.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// All fields, in their order.
    public var fields: [Field]

    /// Creates headers.
    public init(_ fields: [Field] = []) { self.fields = fields }

    /// Returns the value of the first field with a name.
    ///
    /// The names are compared without regard to case.
    public subscript(name: String) -> String? { self.all(name).first }

    /// Returns the values of all fields with a name, such as `set-cookie`.
    ///
    /// The names are compared without regard to case.
    public func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return self.fields.filter { $0.name.lowercased() == name }.map(\.value)
    }
}
#endif
