// A generated client of an older version against a newer server: node next_version.js ADDRESS.
import { ProbeClient } from "./probe.js";

declare const process: { argv: string[] };

async function main(): Promise<void> {
  const client = new ProbeClient(process.argv[2] ?? "", { token: "secret" });
  const found = await client.items.find({ id: 7 });
  const [first] = await client.items.shelf({ name: "a b" });
  if (found.id !== 7n || found.name !== "kettle") throw new Error("find");
  if (first?.id !== 9n || first.name !== "a b") throw new Error("shelf");
  if (await client.isCurrent()) throw new Error("the fingerprint is the same");
  client.close();
  console.log("ok");
}

void main();
