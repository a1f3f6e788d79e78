// A customer of the shop that stays while the shop is killed and started again: node survivor.js ADDRESS.
//
// Each line of the input is a command. `call` calls a route, and prints the product's name or the code of the error. `calls`
// repeats the call until it fails. Messages of a subscription are printed as they arrive.
import { ShopClient, WaybillError } from "./shop.js";

declare const process: {
  argv: string[];
  exit(status: number): never;
  stdin: { setEncoding(name: string): void; on(event: string, listener: (text: string) => void): void };
};

const shop = new ShopClient(process.argv[2] ?? "", { timeout: 20000 });

async function call(repeats: boolean): Promise<void> {
  try {
    let product = await shop.catalog.product({ id: "copper-kettle" });
    while (repeats) product = await shop.catalog.product({ id: "copper-kettle" });
    console.log(`reply ${product.name}`);
  } catch (error) {
    console.log(error instanceof WaybillError ? `error ${error.code}` : `untyped ${String(error)}`);
  }
}

async function subscribe(): Promise<void> {
  for await (const message of shop.subscribe("app://reviews/:product")) {
    console.log(`${message.isAfterGap ? "gap" : "message"} ${String(message.parameters.stars)}`);
  }
  console.log("the subscription has ended");
}

process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  for (const command of text.split("\n").filter((line) => line !== "")) void call(command === "calls");
});
process.stdin.on("end", () => process.exit(0));
subscribe().catch((error) => console.log(`the subscription has failed: ${String(error)}`));
