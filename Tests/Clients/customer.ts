// A customer of the shop with a generated client: node customer.js SOCKET.
import { ShopClient, WaybillError } from "./shop.js";

declare const process: { argv: string[] };

function check(condition: boolean, text: string): void {
  if (!condition) throw new Error(text);
}

async function main(): Promise<void> {
  const shop = new ShopClient(process.argv[2] ?? "", { timeout: 10000 });
  check(await shop.isCurrent(), "the server has other routes than the client");
  const kettle = await shop.catalog.product({ id: "copper-kettle" });
  check(kettle.name === "Copper Kettle 1.2 l" && kettle.price === 5490n, kettle.name);
  const session = (await shop.accounts.signIn({ name: "Lili" })).token;
  await shop.cart.add({ product: "copper-kettle", quantity: 2, session });
  const order = await shop.orders.place({ session });
  check(order.lines[0]?.quantity === 2n, "the order");

  // The shop asks for a confirmation in a progress reply, and the answer confirms.
  const payment = shop.payments.pay({ order: order.id, session });
  for await (const request of payment.progress()) request.answer("confirm");
  check((await payment).order === order.id, "the receipt");

  try {
    await shop.catalog.product({ id: "no-such-thing" });
    check(false, "a product that the shop does not have is found");
  } catch (error) {
    check(error instanceof WaybillError && error.message.includes("no-such-thing"), String(error));
  }
  shop.close();
  console.log("TypeScript: a typed client of the shop");
}

main().catch((error) => {
  console.error(error);
  throw error;
});
