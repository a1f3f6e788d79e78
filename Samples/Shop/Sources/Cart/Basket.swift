internal import ShopAPI

/// The lines of one customer's cart: one for each product, in the order in which they were added.
struct Basket {
    private(set) var lines: [CartLine] = []

    var contents: CartContents { CartContents(lines: self.lines) }

    mutating func add(_ product: Product, quantity: Int) throws(ShopError) {
        guard 1...99 ~= quantity else { throw .badQuantity(quantity) }
        let wanted = quantity + (self.lines.first { $0.product == product.id }?.quantity ?? 0)
        guard wanted <= product.stock else { throw .outOfStock(product: product.name, left: product.stock) }
        self.add(CartLine(product, quantity: quantity))
    }

    mutating func add(_ line: CartLine) {
        if let place = self.place(of: line.product) {
            self.lines[place].quantity += line.quantity
        } else {
            self.lines.append(line)
        }
    }

    mutating func remove(_ id: Product.ID) throws(ShopError) {
        guard let place = self.place(of: id) else { throw .notInCart(id) }
        self.lines.remove(at: place)
    }

    private func place(of id: Product.ID) -> Int? { self.lines.firstIndex { $0.product == id } }
}
