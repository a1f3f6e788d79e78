import Foundation
import Testing
import WaybillClients
import WaybillDocuments

/// Values that only a newer server sends: options of a union, cases of an enumeration, and properties.
@Suite(.timeLimit(.minutes(5)))
struct UnionTests {
    private static func option(_ tag: String, property: String, schema: JSONTree) -> JSONTree {
        [
            "type": "object", "required": .strings(["kind", property]),
            "properties": [
                "kind": ["type": "string", "const": .string(tag)], property: schema,
                "unknown": ["type": "string"],
            ],
        ]
    }

    private static var document: BusDocument {
        get throws {
            let shapes: JSONTree = [
                "oneOf": [
                    Self.option(
                        "circle",
                        property: "radius",
                        schema: ["type": "number", "format": "double"]
                    ),
                    Self.option(
                        "group",
                        property: "shapes",
                        schema: ["type": "array", "items": ["$ref": "#/components/schemas/Shape"]]
                    ),
                ]
            ]
            let tree: JSONTree = [
                "waybill": 1, "title": "Shapes", "version": "1.0.0",
                "components": [
                    "schemas": ["Shape": shapes, "Side": ["type": "string", "enum": ["left", "right"]]]
                ],
                "routes": [
                    [
                        "pattern": "app://draw", "reply": "Side", "exposed": ["calls", "sends"],
                        "replySchema": ["$ref": "#/components/schemas/Side"],
                        "parameters": [
                            [
                                "name": "shape", "type": "Shape", "required": true,
                                "schema": ["$ref": "#/components/schemas/Shape"],
                            ]
                        ],
                        "addresses": [
                            ["scheme": "app", "segments": ["draw"], "exact": true, "parameters": []]
                        ],
                    ]
                ],
            ]
            return try BusDocument(json: tree.written())
        }
    }

    @Test func `a Python client keeps options and cases that it does not know`() async throws {
        try await withFolder { folder in
            let text = try Self.document.client(in: .python, named: "Shapes")
            try text.write(toFile: "\(folder)/shapes.py", atomically: true, encoding: .utf8)
            let script = """
                import shapes
                from shapes import ShapeCircle, ShapeGroup, Side, Unknown
                circle = {"kind": "circle", "radius": 1, "unknown": "x"}
                sent = {"kind": "group", "shapes": [circle, {"kind": "star", "points": 5}]}
                group = shapes._decode_Shape({**sent, "color": "red"})
                star = Unknown({"kind": "star", "points": 5})
                assert group == ShapeGroup(shapes=[ShapeCircle(radius=1.0, unknown="x"), star])
                assert shapes._encode_Shape(group) == sent
                assert shapes.from_json(Side, "left") is Side.LEFT
                up = shapes.from_json(Side, "up")
                assert up == "up" and shapes.to_json(up) == "up" and up is not Side.LEFT
                """
            let run = try await Script.run(["python3", "-c", script], in: folder)
            #expect(run.status == 0, "\(run.output)")
        }
    }

    @Test(
        .enabled(
            if: Script.has("tsc") && Script.has("node"),
            "node or tsc is not there: install node-typescript"
        )
    )
    func `a TypeScript client keeps options and cases that it does not know`() async throws {
        try await withFolder { folder in
            let text = try Self.document.client(in: .typeScript, named: "Shapes")
            try text.write(toFile: "\(folder)/shapes.ts", atomically: true, encoding: .utf8)
            let script = """
                import { Shape, Side } from "./shapes.js";
                const circle: Shape = { kind: "circle", radius: 1, unknown: "x" };
                const star = { kind: "star", points: 5 };
                const sent = { kind: "group", shapes: [circle, star] };
                const group = Shape.decode({ ...sent, shapes: [{ ...circle }, star], color: "red" });
                const side: Side = Side.decode("up");
                const isSame = JSON.stringify(Shape.encode(group)) === JSON.stringify(sent);
                console.log(isSame && Side.encode(side) === "up" ? "ok" : JSON.stringify(group));
                """
            try script.write(toFile: "\(folder)/script.ts", atomically: true, encoding: .utf8)
            try #"{"type": "module"}"#.write(
                toFile: "\(folder)/package.json",
                atomically: true,
                encoding: .utf8
            )
            let compiled = try await Script.run(Script.tsc + ["shapes.ts", "script.ts"], in: folder)
            #expect(compiled.status == 0, "\(compiled.output)")
            let run = try await Script.run(["node", "script.js"], in: folder)
            #expect(run.output == "ok\n")
        }
    }
}
