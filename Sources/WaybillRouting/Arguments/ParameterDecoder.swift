extension Parameters {
    /// Decodes all parameters as one value, by the names of the value's properties.
    package func decode<Value: Decodable>(_ type: Value.Type) throws(RoutingError) -> Value {
        try self.decode(type, keeping: [:])
    }

    /// Decodes the parameters onto a value, whose properties without a parameter are unchanged.
    package func decode<Value: Codable>(onto value: Value) throws(RoutingError) -> Value {
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
            return try Value(from: ParameterDecoder(parameters: self, kept: kept))
        } catch let error as RoutingError {
            throw error
        } catch {
            throw self.failure(error, of: type)
        }
    }

    private func failure(_ error: any Error, of type: any Any.Type) -> RoutingError {
        RoutingError(
            .invalidParameter,
            url: self.url,
            message: "the parameters cannot be decoded as \(TypeName.of(type)): \(Self.reason(error))",
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

/// Decodes parameters as the members of one object.
private struct ParameterDecoder: Decoder {
    let parameters: Parameters
    /// The values of the properties that have no parameter, by property name.
    let kept: [String: Any]
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Container(parameters: self.parameters, kept: self.kept))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw self.noMembers() }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw self.noMembers() }

    private func noMembers() -> RoutingError {
        RoutingError(
            .invalidParameter,
            url: self.parameters.url,
            message: "parameters are decoded by name: use a type with a property for each parameter"
        )
    }

    /// The container that finds each parameter by its name.
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

        /// Reads a parameter as `argument` reads it, or decodes the parameter from its text.
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

        func superDecoder() throws -> any Decoder {
            ParameterDecoder(parameters: self.parameters, kept: self.kept)
        }

        func superDecoder(forKey key: Key) throws -> any Decoder { throw self.isFlat(key) }

        private func isFlat(_ key: Key) -> RoutingError {
            RoutingError(
                .invalidParameter,
                url: self.parameters.url,
                message: "the value of `\(key.stringValue)` has members, and a URL has only text: "
                    + "pass the value with the call"
            )
        }
    }
}
