// Compares the time of a generated call over HTTP with the time of a hand-written `fetch`: node speed.js URL.
import { ShopClient } from "./shop.js";

declare const process: { argv: string[] };

const base = process.argv[2] ?? "";

async function byHand(): Promise<string> {
  const response = await fetch(`${base}/app/catalog/product`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify({ id: "copper-kettle" }),
  });
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  return ((await response.json()) as { name: string }).name;
}

async function measure(call: () => Promise<unknown>, count = 100): Promise<number> {
  const start = performance.now();
  for (let index = 0; index < count; index++) await call();
  return ((performance.now() - start) / count) * 1000;
}

async function main(): Promise<void> {
  const shop = new ShopClient(base);
  const generated = async () => (await shop.catalog.product({ id: "copper-kettle" })).name;
  if ((await byHand()) !== (await generated())) throw new Error("the two calls have different replies");
  // The fastest of many short runs in turn, because other programs use the machine as well. On a busy machine, more
  // runs are necessary until each side has had the machine for itself.
  const limit = 1.15;
  let [hand, client] = [Infinity, Infinity];
  for (let round = 0; round < 240 && (round < 60 || client > hand * limit); round++) {
    hand = Math.min(hand, await measure(byHand));
    client = Math.min(client, await measure(generated));
  }
  const ratio = client / hand;
  console.log(`Node: a call: ${hand.toFixed(0)} µs by hand, ${client.toFixed(0)} µs generated, ratio ${ratio.toFixed(2)}`);
  if (ratio > limit) throw new Error("generated calls are too slow");
}

await main();
