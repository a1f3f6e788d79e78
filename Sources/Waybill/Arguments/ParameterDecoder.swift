internal import WaybillRouting

extension Message {
    /// All parameters as one value: each property gets the parameter of its name.
    ///
    /// ```swift
    /// struct Product: Decodable { let id: Int; var tags: [String]; var note: String? }
    ///
    /// try bus.register("app://product/:id") { message in show(try message.decode(Product.self)) }
    /// try await bus.route("app://product/7?tags=red&tags=new&other=ignored")
    /// ```
    ///
    /// A property's type says how its parameter is read, as it does for ``argument(_:)``: from the call, the
    /// path or the query; an array takes all values of the name; a value that was passed with the call
    /// arrives as it was passed. A type of its own is passed with the call, or decoded from one text, as a
    /// `Decodable` enumeration of texts is. Parameters that the type does not name are ignored.
    ///
    /// - Parameter type: what the parameters are made into.
    /// - Returns: the value.
    /// - Throws: `missingParameter` with the name of a property that is not Optional and has no parameter;
    ///   `invalidParameter` with both types; and what the type's own `init(from:)` throws, as
    ///   `invalidParameter` with that as its cause.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(RoutingError) -> Value {
        try self.decode(type, keeping: [:])
    }

    /// Puts the parameters onto a value: a property without a parameter keeps its value.
    ///
    /// ```swift
    /// struct Detail: Codable { var symbol = ""; var price = 9.5 }
    ///
    /// try bus.register("app://detail") { message in show(try message.decode(onto: Detail())) }
    /// try await bus.route("app://detail?symbol=WB")        // symbol: "WB", price: 9.5
    /// ```
    ///
    /// A `Decodable` type does not know the values that its properties are declared with; a value of the type
    /// does. It is taken apart by its `encode(to:)`, and properties are told apart by their coding keys.
    /// Otherwise parameters are read as by ``decode(_:)``.
    ///
    /// An object that takes parameters over keeps them in one property:
    /// `self.detail = try message.decode(onto: self.detail)`.
    ///
    /// - Parameter value: the value with the defaults, or with the parameters from before.
    /// - Returns: the changed value.
    /// - Throws: the errors of ``decode(_:)``, and an error of `encode(to:)` as the cause of
    ///   `invalidParameter`.
    public func decode<Value: Codable>(onto value: Value) throws(RoutingError) -> Value {
        let recorder = PropertyRecorder()
        do {
            try value.encode(to: recorder)
        } catch {
            throw self.failure(error, of: Value.self)
        }
        return try self.decode(Value.self, keeping: recorder.values)
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type,
        keeping kept: [String: Any]
    ) throws(RoutingError) -> Value {
        do {
            return try Value(from: ParameterDecoder(self.parameters, kept))
        } catch let error as RoutingError {
            throw error
        } catch {
            throw self.failure(error, of: type)
        }
    }

    private func failure(_ error: any Error, of type: any Any.Type) -> RoutingError {
        RoutingError(
            .invalidParameter,
            url: self.parameters.url,
            message: "the parameters are no \(TypeName.of(type)): \(Self.reason(error))",
            cause: error
        )
    }

    private static func reason(_ error: any Error) -> String {
        switch error as? DecodingError {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
            .dataCorrupted(let context):
            context.debugDescription
        default: "\(error)"
        }
    }
}

/// Gives the parameters of a message to a `Decodable` type as the members of one object.
private struct ParameterDecoder: Decoder {
    let parameters: Parameters
    /// The values of properties that have no parameter, by name.
    let kept: [String: Any]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ parameters: Parameters, _ kept: [String: Any]) {
        self.parameters = parameters
        self.kept = kept
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Container(parameters: self.parameters, kept: self.kept))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw self.noMembers() }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw self.noMembers() }

    private func noMembers() -> RoutingError {
        RoutingError(
            .invalidParameter,
            url: self.parameters.url,
            message: "parameters are read by name, so the type needs properties"
        )
    }

    /// The parameters by name.
    private struct Container<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let parameters: Parameters
        let kept: [String: Any]
        let codingPath: [any CodingKey] = []

        var allKeys: [Key] {
            Set(self.parameters.all.keys).union(self.kept.keys).compactMap(Key.init(stringValue:))
        }

        func contains(_ key: Key) -> Bool {
            self.parameters.passedValue(key.stringValue) != nil || self.parameters[key.stringValue] != nil
                || self.kept[key.stringValue] != nil
        }

        func decodeNil(forKey key: Key) -> Bool {
            guard let passed = self.parameters.passedValue(key.stringValue) else {
                return !self.contains(key)
            }
            return Parameters.isNil(passed)
        }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
            let name = key.stringValue
            if let value = try self.read(type, name) ?? self.kept[name] as? Value { return value }
            if let absent = (type as? any CompoundArgument.Type)?.absent as? Value { return absent }
            throw self.parameters.missing(name, type)
        }

        /// The value of a parameter, as `argument` reads it, or decoded from its text.
        private func read<Value: Decodable>(_ type: Value.Type, _ name: String) throws -> Value? {
            do throws(RoutingError) {
                return try ArgumentReader(self.parameters, name).read(type)
            } catch {
                guard !ArgumentText.exists(for: type), let text = self.parameters[name],
                    self.parameters.passedValue(name).map({ Parameters.givenText($0) != nil }) ?? true
                else { throw error }
                return try Value(from: ScalarDecoder(value: text, mismatch: error))
            }
        }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) throws -> KeyedDecodingContainer<Nested> { throw self.isFlat(key) }

        func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
            throw self.isFlat(key)
        }

        func superDecoder() throws -> any Decoder { ParameterDecoder(self.parameters, self.kept) }

        func superDecoder(forKey key: Key) throws -> any Decoder { throw self.isFlat(key) }

        private func isFlat(_ key: Key) -> RoutingError {
            RoutingError(
                .invalidParameter,
                url: self.parameters.url,
                message: "`\(key.stringValue)` is one value, and has no members: pass it with the call"
            )
        }
    }
}
