#if Tool

public import ArgumentParser
internal import Foundation
internal import Waybill
internal import WaybillDocuments

/// The subcommand `routes`, which prints the routes of a program.
///
/// The command can also write documents of the routes, and check the routes.
///
/// A program adds the command in one line:
///
/// ```swift
/// @main struct Shop: AsyncParsableCommand, RouteProviding {
///     static let configuration = CommandConfiguration(subcommands: [RoutesCommand<Shop>.self])
///     static func makeBus() async throws -> MessageBus { try await Storefront().bus }
/// }
/// ```
public struct RoutesCommand<Program: RouteProviding>: AsyncParsableCommand {
    /// The name of the command, and its text for `--help`.
    public static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "routes",
            abstract: "Show every route: its pattern, its parameters, its reply and its purpose.",
            discussion: """
                With --check the command prints problems instead of routes: routes without a handler, patterns that \
                no URL can match, services that the program needs and no module provides, URLs in the arguments that \
                no route handles, and services named with --service that no module provides. The exit status is 1 if \
                it finds a problem.

                EXAMPLES:
                  routes
                  routes --format markdown > ROUTES.md
                  routes --openapi --exposed > openapi.json
                  routes --site public
                  routes --check "app://order/pay#home/receipt"
                  routes --check --service TimeService --service Alarms
                """
        )
    }

    @Option(help: "The format of the output: table, json or markdown.")
    var format: RouteListFormat = .table

    @Flag(help: "Print the routes as JSON, as `--format json` does.")
    var json = false

    @OptionGroup(title: "Documents") var document: DocumentOptions

    @Flag(help: "In a document, include only the routes that are exposed to other processes.")
    var exposed = false

    @Flag(help: "Check the routes and the URLs in the arguments, and print problems instead of routes.")
    var check = false

    @Option(
        name: .customLong("service"),
        help: "With --check: a service's protocol that a module must provide. Repeat the option for more."
    )
    var services: [String] = []

    @Argument(help: "With --check: URLs that must have a handler. Their return URLs need a handler too.")
    var urls: [String] = []

    /// Creates the command.
    public init() {}

    /// Creates the program's bus, prints its routes or problems, and shuts it down.
    public func run() async throws {
        let bus = try await Program.makeBus()
        let result = Result { try self.report(on: bus) }
        await bus.shutDown()
        if !(try result.get()).isEmpty { throw ExitCode.failure }
    }

    /// Prints the routes, the document or the problems of a bus, and returns the problems.
    private func report(on bus: MessageBus) throws -> [RoutingError] {
        let problems =
            self.check
            ? bus.validate(urls: self.urls, services: Program.neededServices)
                + bus.validate(serviceNames: self.services) : []
        if self.check {
            for problem in problems { try StandardOutput.write("\(problem)\n") }
        } else if self.document.isAsked {
            let title = self.document.title(or: Self.programName)
            let scope: DocumentScope = self.exposed ? .exposed : .all
            let document = bus.document(title: title, version: self.document.version, of: scope)
            try self.document.write(document) { try StandardOutput.write("\($0)\n") }
        } else {
            let list = RouteList(bus.routeDescriptions)
            try StandardOutput.write("\(try list.text(as: self.json ? .json : self.format))\n")
        }
        return problems
    }

    /// The file name of the running program.
    private static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "Waybill"
    }

    /// Rejects URLs and services without `--check`, and rejects `--check` together with a document.
    public func validate() throws {
        if !self.check, !self.services.isEmpty { throw ValidationError("--service requires --check.") }
        if self.check, self.document.isAsked { throw ValidationError("Pass either --check or a document.") }
        if !self.check, !self.urls.isEmpty { throw ValidationError("URLs require --check.") }
    }
}

extension RouteListFormat: ExpressibleByArgument {}

#endif
