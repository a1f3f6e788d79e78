// Makes the calls that pairs.py has written, and writes the sent values to sent_node.json.
interface Case {
  readonly client: number;
  /** The reply as JSON. */
  readonly reply: string;
}

interface Sent {
  url?: string;
  values?: unknown;
  error?: string;
}

interface Client {
  PairsClient: new (address: string) => { readonly transport: object };
  parseJSON(json: string): unknown;
}

type Calls = { [name: string]: (client: object) => Promise<unknown> };

interface Files {
  readFileSync(path: string, encoding: string): string;
  writeFileSync(path: string, text: string): void;
}

/** Returns JSON as the client writes it, with the digits of whole numbers. */
function written(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  // A decimal number keeps its digits in an object.
  if (value.constructor.name === "Digits") return (value as { text: string }).text;
  const members = Object.entries(value).filter((entry) => entry[1] !== undefined);
  return `{${members.map(([name, item]) => `${JSON.stringify(name)}:${written(item)}`).join(",")}}`;
}

async function main(): Promise<void> {
  // tsc has no types of Node here, so it must not resolve the name of the module.
  const files = (await import(["node", "fs"].join(":"))) as Files;
  const cases = JSON.parse(files.readFileSync("cases.json", "utf8")) as Case[];
  const sent: Sent[] = [];
  for (const [number, { client, reply }] of cases.entries()) {
    const { PairsClient, parseJSON } = (await import(`./client_${client}.js`)) as Client;
    const calls = (await import(`./calls_${client}.js`)) as Calls;
    const found: Sent = {};
    sent.push(found);
    const call = async ({ url, values }: { url: string; values: unknown }): Promise<unknown> => {
      Object.assign(found, { url, values });
      return parseJSON(reply);
    };
    const it = new PairsClient("nowhere");
    // The routes of the client share its transport.
    Object.assign(it.transport, { call });
    try {
      await calls[`call_${number}`]?.(it);
    } catch (error) {
      found.error = String(error);
    }
  }
  files.writeFileSync("sent_node.json", written(sent));
}

void main();
