internal import Waybill
internal import WaybillNavigation

/// Keeps the shown pages with their contents.
///
/// A page without content is not shown.
@MainActor
final class PagePresenter: Presenter {
    /// The bus and the session for the pages.
    var visit: Visit
    private var stack: [PresentedDestination] = []
    private var contents: [PresentedDestination.ID: PageContent] = [:]
    private var chosen: [PresentedDestination.ID: Int] = [:]

    init(visit: Visit) { self.visit = visit }

    @MainActor func show(_ change: NavigationChange) async throws { try await self.take(change.stack) }

    @MainActor func update(_ change: NavigationChange) async throws { try await self.take(change.stack) }

    @MainActor func remove(_ change: NavigationChange) async throws { try await self.take(change.stack) }

    /// Loads the content of the front page again.
    func reload() async throws { try await self.take(self.stack) }

    private func take(_ stack: [PresentedDestination]) async throws {
        if let top = stack.last {
            guard let page = top.value as? any Page else {
                throw RoutingError.refused("\(top.entry.name) is not a page")
            }
            self.contents[top.id] = try await page.content(for: self.visit)
        }
        self.stack = stack
        let shown = Set(stack.map(\.id))
        self.contents = self.contents.filter { shown.contains($0.key) }
        self.chosen = self.chosen.filter { shown.contains($0.key) }
    }

    /// Returns the chosen link of the front page.
    var chosenLink: PageLink? {
        guard let layer = self.layers.last, layer.chosen < layer.content.links.count else { return nil }
        return layer.content.links[layer.chosen]
    }

    func choose(by distance: Int) {
        guard let layer = self.layers.last, let top = self.stack.last, !layer.content.links.isEmpty else {
            return
        }
        self.chosen[top.id] = min(max(0, layer.chosen + distance), layer.content.links.count - 1)
    }

    /// The front page of each layer, with the titles of the pages below it.
    var layers: [ScreenView.Layer] {
        self.stack.reduce(into: []) { layers, destination in
            let content = self.contents[destination.id] ?? PageContent(title: destination.entry.name)
            let isSheet = destination.entry.transition == .present && !layers.isEmpty
            let trail = isSheet ? [] : layers.popLast()?.trail ?? []
            layers.append(
                ScreenView.Layer(
                    trail: trail + [content.title],
                    url: destination.entry.url,
                    content: content,
                    chosen: min(self.chosen[destination.id] ?? 0, max(0, content.links.count - 1))
                )
            )
        }
    }
}
