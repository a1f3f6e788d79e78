// A generated client against the server of the tests: node generated.js values|calls|growth|subscribe|resume|hostile ADDRESS.
import { type Bid, Everything, OrderError, ProbeClient, WaybillError, parseJSON } from "./probe.js";

declare const process: { argv: string[]; exitCode?: number; memoryUsage(): { heapUsed: number } };

const [, , mode = "", address = "", port = ""] = process.argv;
const isWeb = address.startsWith("http");

function check(condition: boolean, text: string): void {
  if (!condition) throw new Error(text);
}

const pause = (milliseconds: number): Promise<void> => new Promise((done) => setTimeout(done, milliseconds));

/** Returns the code with which a promise fails. */
async function failure(promise: PromiseLike<unknown>): Promise<WaybillError> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof WaybillError) return error;
    throw error;
  }
  throw new Error("no error");
}

function same(one: unknown, other: unknown): boolean {
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, item) => (typeof item === "bigint" ? `${item}n` : item) as unknown);
  return text(one) === text(other);
}

async function values(client: ProbeClient): Promise<void> {
  // tsc has no types of Node here, so it must not resolve the name of the module.
  const name: string = "node:fs";
  const files = (await import(name)) as { readFileSync(path: string, encoding: string): string };
  for (const line of files.readFileSync("values", "utf8").split("\n")) {
    const value = Everything.decode(parseJSON(line));
    check(same(await client.probe.echo({ value }), value), `${line} has changed`);
  }
}

async function bargain(client: ProbeClient, until: Date): Promise<void> {
  const call = client.probe.bargain({ prices: ["1.10", "2.5"] });
  const bids: Bid[] = [{ price: "0.9", until }, { price: "2" }];
  const offers: string[] = [];
  try {
    for await (const step of call.progress()) {
      offers.push(`${step.value.price} ${step.value.side}`);
      step.answer(bids[offers.length - 1] as Bid);
    }
    check(!isWeb && same(await call, [`0.9 ${until.getTime() / 1000}`, "2 -"]), String(await call));
    check(same(offers, ["1.1 right", "2.5 right"]), String(offers));
  } catch (error) {
    // The gateway itself answers the first offer with null, which is not a bid.
    check(isWeb && error instanceof WaybillError && error.code === "typeMismatch", String(error));
    check(offers.length === 1, String(offers));
  }
}

/** Passes parameters in the path, of which some would become URLs of other routes. */
async function paths(client: ProbeClient): Promise<void> {
  check((await client.probe.files({ path: "a/b c/é" })) === "a/b c/é", "a path");
  check((await client.probe.twice({ id: "7" })) === "7", "a placeholder that is repeated");
  check((await client.probe.wild({ any: "a", any_: "b" })) === "a", "a wildcard and a parameter");
  const calls = ["", "/a", "a//b", "a/"].map((path) => () => client.probe.files({ path }));
  for (const call of [...calls, () => client.probe.place({ text: "", number: 1 })]) {
    const error = await failure((async () => call())());
    check(error.code === "invalidParameter" && /at least one character/.test(error.message), String(error));
  }
  for (const path of [".", "a/..", "../a"]) {
    // Proxies would remove these segments, and a bus exposes no URL that has one.
    const error = await failure(client.probe.files({ path }));
    check(error.code === (isWeb ? "invalidURL" : "noRoute"), String(error));
  }
}

async function calls(client: ProbeClient): Promise<void> {
  check((await client.probe.place({ text: "a/b c", number: -7 })) === "a/b c -7 left []", "place");
  const place = client.probe.place({ text: "é", number: 1n, side: "right", sizes: [0.5] });
  check((await place) === "é 1 right [0.5]", "place with all parameters");
  const date = new Date("2026-11-21T08:30:00.125Z");
  const [uuid, decimal] = ["E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "12345678901234567890.125"];
  const captured = await client.probe.captured({ data: new Uint8Array([0, 255, 254, 7]), date, uuid, decimal });
  check(captured === `[0, 255, 254, 7] ${date.getTime() / 1000} ${uuid} ${decimal}`, captured);
  for (const traceparent of ["00-a", "größe →"]) {
    check((await client.probe.trace({ headers: { traceparent } })) === traceparent, traceparent);
  }
  await client.probe.note({ text: "" });
  await paths(client);
  const error = await failure(client.probe.fail({ id: 9 }));
  check(error instanceof OrderError && error.case === "unknown" && error.status === 404, "declared error");
  check(error.message === "there is no order 9", error.message);

  for (const text of ["\ud800", "a\udfffb"]) {
    check((await failure(client.probe.note({ text }))).code === "invalidParameter", "half of a pair");
    const place = async () => client.probe.place({ text, number: 1 });
    check((await failure(place())).code === "invalidParameter", "half of a pair in a URL");
  }
  for (const price of ["01", "-00.1", "1.", ".5", "1\n"]) {
    const call = async () => client.probe.bargain({ prices: [price] });
    const error = await call().then(() => "no error", String);
    check(/is not a number of JSON/.test(error), `${price}: ${error}`);
  }

  const { transport } = client as unknown as { transport: { call(request: object): Promise<unknown> } };
  const misspelt = await failure(transport.call({ url: "app://probe/ecko", values: {}, options: {} }));
  check(misspelt.suggestions[0] === "app://probe/echo", String(misspelt.suggestions));

  if (!isWeb) {
    // The server rejects the marks of a message without a reply, and does not end the connection.
    await client.app.messages({ text: "x" }, { headers: { traceparent: `x${"\u0301".repeat(40)}` } });
    check((await client.probe.trace()) === "", "a call after a rejected message");
    // The server's error for text that it does not parse has only a number.
    const unread = await failure(client.probe.note({ text: `x${"\u0301".repeat(40)}` }));
    check(unread.code === "handlerFailed", String(unread.code));
    const large = failure(client.probe.note({ text: "x".repeat(1 << 20) }));
    const [error, trace] = await Promise.all([large, client.probe.trace()]);
    check(error.code === "notTransferable" && trace === "", String(error));
    const values = { $waybill: { headers: { traceparent: "00-b" } } };
    const reserved = await failure(transport.call({ url: "app://probe/trace", values, options: {} }));
    check(reserved.code === "notTransferable", String(reserved));
  }

  const call = client.probe.steps({ count: 3, isAnswered: !isWeb });
  const seen: unknown[] = [];
  for await (const step of call.progress()) {
    seen.push(step.value);
    step.answer(Number(step.value) * 10);
  }
  check(same(seen, [1, 2, 3]) && (await call) === (isWeb ? 0n : 60n), `steps: ${String(seen)}`);
  const count = client.probe.count({ end: 3 });
  const numbers: bigint[] = [];
  for await (const step of count.progress()) numbers.push(step.value);
  check(same(numbers.map(Number), [1, 2, 3]) && (await count) === 3n, `count: ${String(numbers)}`);
  await bargain(client, date);
  // The server sends the value to the return URL as well, possibly after the reply.
  const returned = client.probe.place({ text: "r", number: 2 }, { returnURL: "app://probe/keep?note=größe→" });
  check((await returned) === "r 2 left []", "place with a return URL");
  check(await client.isCurrent(), "the fingerprint");
  if (!isWeb) {
    check(Number(await client.publish("app://news/x", { text: "hi" })) === 0, "publish");
  }
  // A caller that ends the iteration early cancels the call, which is not made again.
  const begun = client.probe.steps({ count: 3, isAnswered: false });
  for await (const step of begun.progress()) if (step.value === 1) break;
  check((await failure(begun)).code === "cancelled", "a call that has ended early");

  const many = Array.from({ length: 50 }, (_, number) => client.probe.place({ text: `${number}`, number }));
  check((await Promise.all(many))[49] === "49 49 left []", "many");

  check((await failure(client.probe.wait({ timeout: 200.5 }))).code === "deadlineExceeded", "deadline");
  for (const timeout of [2 ** 31, Infinity]) check((await client.probe.trace({ timeout })) === "", `${timeout}`);
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 200);
  check((await failure(client.probe.wait({ signal: controller.signal }))).code === "cancelled", "signal");
  await pause(200);
}

/** Closes a client while a call is in flight and a subscription is read. */
async function closing(): Promise<void> {
  const client = new ProbeClient(address, { token: "secret" });
  const reading = end(client.subscribe("app://news/*"));
  const waiting = failure(client.probe.wait());
  await client.probe.trace();
  await pause(1000);
  client.close();
  check((await within(5000, waiting)).code === "unreachable", "a call in flight");
  await within(5000, reading);
  check((await failure(client.probe.trace())).code === "unreachable", "a call of a closed client");
}

/** Calls a route many times, and checks the heap after a fifth and after all of the calls. */
async function growth(client: ProbeClient, count: number): Promise<void> {
  let before = 0;
  for (let number = 0; number < count; number++) {
    check((await client.probe.trace()) === "", "trace");
    if (number === Math.floor(count / 5)) before = await heap();
  }
  const grown = (await heap()) - before;
  check(grown < 1 << 20, `${grown} bytes`);
}

/**
 * Returns the size of the heap after collections, which the option --expose-gc of Node permits.
 *
 * The first collection frees connections and bodies only after a pause.
 */
async function heap(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    (globalThis as unknown as { gc(): void }).gc();
    await pause(20);
  }
  return process.memoryUsage().heapUsed;
}

async function subscribe(): Promise<void> {
  const client = new ProbeClient(address, { token: "secret" });
  const topics: string[] = [];
  while (topics[0] === undefined) {
    try {
      for await (const message of client.subscribe("app://news/:topic")) {
        const topic = String(message.parameters.topic);
        if (!topics.includes(topic)) {
          topics.push(topic);
          check(message.isAfterGap === (topic === "second"), `gap before ${topic}`);
          await client.probe.note({ text: `${topic} ${String(message.parameters.text)}` });
        }
        if (topics.length === 2) break;
      }
    } catch (error) {
      if (!(error instanceof WaybillError) || error.code !== "unreachable") throw error;
      await pause(20);
    }
  }
  client.close();
}

/** Reads six messages through a proxy that cuts the connection after the second one. */
async function resume(): Promise<void> {
  const client = new ProbeClient(address);
  const seen: number[] = [];
  const read = (async () => {
    for await (const message of client.subscribe("app://news/*")) {
      check(!message.isAfterGap, "a gap");
      const number = Number(message.parameters.n);
      if (!seen.includes(number)) seen.push(number);
      if (seen.length === 6) return;
    }
  })();
  await pause(500);
  for (let number = 0; number < 6; number++) {
    const event = { specversion: "1.0", id: `${number}`, source: "/t", type: "t", data: { n: number } };
    await fetch(`http://127.0.0.1:${port}/bus/app/news/x`, {
      method: "POST",
      headers: { "Content-Type": "application/cloudevents+json" },
      body: JSON.stringify(event),
    });
  }
  await read;
  check(same(seen, [0, 1, 2, 3, 4, 5]), String(seen));
}

/** Ends a promise that is not settled within a time. */
async function within<T>(limit: number, promise: PromiseLike<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end after ${limit} ms`)), limit);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    // A timer would keep the process alive.
    clearTimeout(timer);
  }
}

async function end(iterator: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of iterator);
}

/** Sends more bytes than a connection buffers. */
async function sendMuch(client: ProbeClient): Promise<void> {
  for (let count = 0; count < 64; count++) await client.app.messages({ text: "x".repeat(1 << 20) }, { timeout: 500 });
}

/** Reads messages so slowly that the client drops some of them, and expects a gap exactly there. */
async function crowd(client: ProbeClient): Promise<void> {
  let [expected, gaps] = [0, 0];
  for await (const message of client.subscribe("app://news/*")) {
    const number = Number(message.parameters.text);
    // The server has dropped messages before number 2500.
    check(message.isAfterGap === (number !== expected || number === 2500), `a gap before ${number}`);
    if (message.isAfterGap) gaps++;
    if (expected === 0) await pause(500);
    expected = number + 1;
    if (expected === 3000) break;
  }
  check(gaps > 0, "no gap");
  client.close();
}

/** Calls servers that break the protocol. */
async function hostile(ports: Record<string, string>): Promise<void> {
  const named = await failure((async () => new ProbeClient("http://user:secret@127.0.0.1/bus"))());
  check(named.code === "invalidURL" && !named.message.includes("secret"), String(named));
  const long = parseJSON(`["${'\\"x'.repeat(4_000_000)}", 12345678901234567890]`) as unknown[];
  check((long[0] as string).length === 8_000_000 && long[1] === 12345678901234567890n, "a long text");
  const expect = async (code: string, limit: number, promise: PromiseLike<unknown>): Promise<void> => {
    const error = await within(limit, failure(promise));
    check(error.code === code, String(error));
  };
  for (const name of ["blank", "array", "http", "endless"]) {
    const client = new ProbeClient(`tcp:127.0.0.1:${ports[name]}`);
    for (let round = 0; round < 2; round++) await expect("unreachable", 30000, client.probe.trace());
    await expect("unreachable", 30000, end(client.subscribe("app://news/*")));
  }
  const large = new ProbeClient(`tcp:127.0.0.1:${ports.large}`);
  check((await within(30000, large.probe.trace())).length === 30_000_000, "a large reply");
  large.close();
  const silent = `tcp:127.0.0.1:${ports.silent}`;
  const timed = new ProbeClient(silent, { token: "x", timeout: 200 });
  await Promise.all([
    expect("deadlineExceeded", 4000, timed.probe.trace()),
    expect("deadlineExceeded", 4000, timed.publish("app://news/x")),
    expect("deadlineExceeded", 4000, timed.isCurrent()),
    expect("deadlineExceeded", 2000, end(timed.probe.count({ end: 1 }).progress())),
  ]);
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 200);
  const untimed = new ProbeClient(silent, { token: "x" });
  await Promise.all([
    expect("cancelled", 4000, untimed.probe.trace({ signal: stop.signal })),
    within(4000, end(untimed.subscribe("app://news/*", stop.signal))),
    expect("unreachable", 8000, untimed.probe.trace()),
  ]);
  await expect("refused", 4000, new ProbeClient(`tcp:127.0.0.1:${ports.denied}`, { token: "x" }).probe.trace());
  const sluggish = new ProbeClient(`tcp:127.0.0.1:${ports.sluggish}`, { token: "x", timeout: 30000 });
  await Promise.all([
    expect("refused", 20000, sluggish.probe.trace()),
    expect("refused", 20000, end(sluggish.probe.count({ end: 1 }).progress())),
  ]);
  sluggish.close();
  const late = new ProbeClient(`tcp:127.0.0.1:${ports.late}`);
  const reader = new AbortController();
  setTimeout(() => reader.abort(), 200);
  await within(2000, end(late.subscribe("app://news/*", reader.signal)));
  await pause(3000);
  late.close();
  await within(30000, crowd(new ProbeClient(`tcp:127.0.0.1:${ports.crowded}`)));
  const renewed = new ProbeClient(`tcp:127.0.0.1:${ports.renewed}`);
  const renewals = renewed.subscribe("app://news/*");
  check((await within(30000, renewals.next())).value?.isAfterGap === true, "a gap after the end of a subscription");
  await renewals.return();
  renewed.close();
  const anonymous = new ProbeClient(`tcp:127.0.0.1:${ports.anonymous}`);
  for (let round = 0; round < 2; round++) {
    const error = await within(30000, failure(anonymous.probe.trace()));
    check(error.code === "unreachable" && error.message === "the line is malformed", String(error));
  }
  anonymous.close();
  const stalled = [0, 1].map(() => new ProbeClient(`tcp:127.0.0.1:${ports.stalled}`, { requestSize: 2 << 20 }));
  await expect("deadlineExceeded", 60000, sendMuch(stalled[0] as ProbeClient));
  await stalled[1]?.app.messages({ text: "a second connection" });
  await within(20000, stalled[0]?.app.messages({ text: "the server reads again" }) ?? pause(0));
  for (const client of stalled) client.close();
  const left = [0, 1].map(() => new ProbeClient(`tcp:127.0.0.1:${ports.left}`, { requestSize: 2 << 20 }));
  await expect("deadlineExceeded", 60000, sendMuch(left[0] as ProbeClient));
  left[0]?.close();
  await left[1]?.app.messages({ text: "a second connection" });
  left[1]?.close();
  for (const name of ["page", "accepted", "line", "event", "headers"]) {
    const client = new ProbeClient(`http://127.0.0.1:${ports[name]}`);
    // A subscription that has begun connects again.
    if (name !== "line" && name !== "event") {
      await expect("unreachable", 30000, end(client.subscribe("app://news/*")));
    }
    await expect("unreachable", 30000, end(client.probe.count({ end: 1 }).progress()));
  }
  const news = new ProbeClient(`http://127.0.0.1:${ports.separator}`).subscribe("app://news/*");
  const { value } = await within(8000, news.next());
  check(value?.parameters.text === "a\u2028b", String(value?.parameters.text));
  await news.return();
  for await (const _ of new ProbeClient(`http://127.0.0.1:${ports.generous}`).probe.count({ end: 1 }).progress()) {
    await pause(3000);
    break;
  }
  const flaky = new ProbeClient(`http://127.0.0.1:${ports.flaky}`).subscribe("app://news/*");
  for (let count = 0; count < 2; count++) await within(30000, flaky.next());
  await flaky.return();
  for (const address of [`tcp:127.0.0.1:${ports.brief}`, `http://127.0.0.1:${ports.ended}`]) {
    const enough = new AbortController();
    setTimeout(() => enough.abort(), 3000);
    await within(30000, end(new ProbeClient(address).subscribe("app://news/*", enough.signal)));
  }
  const half = new ProbeClient(`tcp:127.0.0.1:${ports.half}`, { requestSize: 2 << 20 });
  await expect("unreachable", 60000, sendMuch(half));
  await expect("unreachable", 30000, half.probe.trace());
  await expect("unreachable", 30000, new ProbeClient(`http://127.0.0.1:${ports.cut}`).probe.trace());
  await expect("refused", 30000, new ProbeClient(`http://127.0.0.1:${ports.moved}`).probe.trace());
  const steps = new ProbeClient(`tcp:127.0.0.1:${ports.flooding}`).probe.count({ end: 1 }).progress();
  await within(30000, steps.next());
  await pause(1000);
  await expect("unreachable", 30000, end(steps));
  const garbled = new ProbeClient(`http://127.0.0.1:${ports.garbled}`).subscribe("app://news/*");
  for (const isAfterGap of [false, true]) {
    const { value } = await within(30000, garbled.next());
    check(value?.isAfterGap === isAfterGap, String(isAfterGap));
  }
  await garbled.return();
  const torn = new ProbeClient(`http://127.0.0.1:${ports.page}`, { token: "secret\nmore" });
  const reason = await torn.probe.trace().then(() => "no error", String);
  check(reason.includes("Authorization") && !reason.includes("secret"), reason);
  const beating = new ProbeClient(`http://127.0.0.1:${ports.beating}`, { timeout: 200 });
  await expect("deadlineExceeded", 4000, end(beating.probe.count({ end: 1 }).progress()));
}

async function main(): Promise<void> {
  if (mode === "subscribe") return subscribe();
  if (mode === "resume") return resume();
  if (mode === "hostile") {
    const pairs = address.split(",").map((pair) => pair.split("="));
    return hostile(Object.fromEntries(pairs) as Record<string, string>);
  }
  const client = new ProbeClient(address, { token: "secret" });
  if (mode === "growth") await growth(client, Number(port));
  else await (mode === "values" ? values(client) : calls(client));
  client.close();
  if (mode === "calls") await closing();
}

main().then(
  () => console.log("ok"),
  (error) => {
    console.error(error);
    process.exitCode = 1;
  },
);
