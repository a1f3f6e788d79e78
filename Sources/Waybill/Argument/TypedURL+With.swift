// The type of a value picks the overload, as it does where the parameter is read: what is made from text goes into the
// URL, and anything else with the call.
extension TypedURL {
    /// The URL with one parameter more.
    public func with(_ name: String, _ value: some LosslessStringConvertible) -> Self {
        self.adding(name, [value.description])
    }

    /// The URL with one parameter more, unless it is nil.
    public func with(_ name: String, _ value: (some LosslessStringConvertible)?) -> Self {
        self.adding(name, value.map { [$0.description] } ?? [])
    }

    /// The URL with one parameter for each value.
    public func with(_ name: String, _ values: [some LosslessStringConvertible]) -> Self {
        self.adding(name, values.map(\.description))
    }

    /// The URL with one parameter for each value, if there are any.
    public func with(_ name: String, _ values: [some LosslessStringConvertible]?) -> Self {
        self.adding(name, (values ?? []).map(\.description))
    }

    /// The URL with one parameter more that has a text of its own.
    public func with(_ name: String, _ value: some URLParameter) -> Self {
        self.adding(name, [value.urlParameter])
    }

    /// The URL with one parameter more that has a text of its own, unless it is nil.
    public func with(_ name: String, _ value: (some URLParameter)?) -> Self {
        self.adding(name, value.map { [$0.urlParameter] } ?? [])
    }

    /// The URL with one parameter for each value.
    public func with(_ name: String, _ values: [some URLParameter]) -> Self {
        self.adding(name, values.map(\.urlParameter))
    }

    /// The URL with one parameter for each value, if there are any.
    public func with(_ name: String, _ values: [some URLParameter]?) -> Self {
        self.adding(name, (values ?? []).map(\.urlParameter))
    }
}
