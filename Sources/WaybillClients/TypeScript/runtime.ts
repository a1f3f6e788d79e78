// The rest of the file is the same for every document.

/** A value of JSON whose whole numbers beyond 2^53 are `bigint`. */
export type JSONValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JSONValue[]
  | { readonly [name: string]: JSONValue };

/** A value on the wire, in which a decimal number keeps its digits. */
export type Wire =
  | null
  | boolean
  | number
  | bigint
  | string
  | Digits
  | readonly Wire[]
  | { readonly [name: string]: Wire };

/** A number with more digits than a `number` has. */
export class Digits {
  constructor(readonly text: string) {
    if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) {
      throw new RangeError(`${text} is not a number of JSON`);
    }
  }
}

/** The conversions of a type, for progress replies, answers and publications. */
export interface Type<T> {
  decode(value: Wire): T;
  encode(value: T): Wire;
}

/** The failure of a call, with the sentence of the server. */
export class WaybillError extends Error {
  /** The text under which the server's log has the cause. */
  readonly reference?: string;
  /** URLs that are similar to the URL of the call. */
  readonly suggestions: readonly string[];

  constructor(
    /** The name of the bus's code. */
    readonly code: ErrorCode,
    message: string,
    data: Members = {},
  ) {
    super(message);
    this.name = "WaybillError";
    const { suggestions, reference } = data;
    this.suggestions = Array.isArray(suggestions) ? suggestions.map(String) : [];
    if (typeof reference === "string") this.reference = reference;
  }
}

/** An error that a module declares for its callers. */
export class DeclaredError extends WaybillError {
  readonly case: string;
  readonly status: number;
  readonly value: JSONValue;

  constructor(name: string, message: string, error: Members) {
    super("handlerFailed", message);
    this.name = name;
    this.case = String(error.code);
    this.status = Number(error.status);
    this.value = plain(error.value ?? null);
  }
}

/** The options of one call. */
export interface Options {
  /** The milliseconds to wait for the reply. */
  readonly timeout?: number;
  /** Texts for the infrastructure of the server, such as `traceparent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A URL to which the server sends the value of the reply as well. */
  readonly returnURL?: string;
  /** A signal that cancels the call and its handler. */
  readonly signal?: AbortSignal;
}

/** The configuration of a client. */
export interface Configuration {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The milliseconds that a call without its own timeout waits. */
  readonly timeout?: number;
  /** The bytes of the longest message over a socket, by default 1 MiB. */
  readonly requestSize?: number;
}

/** A message that was published to a subscribed pattern. */
export interface Publication {
  readonly url: string;
  readonly parameters: { readonly [name: string]: JSONValue };
  readonly payload: JSONValue;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether messages before this message may be missing. */
  readonly isAfterGap: boolean;
}

/** A progress reply of a call. */
export class Step<T, A> {
  constructor(
    readonly value: T,
    /**
     * Answers the progress reply, for which its handler may wait.
     *
     * A progress reply without an answer is answered with null when the next one is
     * read. Over HTTP, the server itself answers each progress reply.
     */
    readonly answer: (value: A) => void,
  ) {}
}

/** The parts that `Call` and `ProgressCall` have in common. */
abstract class AnyCall<T> implements PromiseLike<T> {
  private reply?: Promise<T>;

  constructor(
    private readonly transport: Transport,
    private readonly request: Request,
    private readonly decode: (value: Wire) => T,
  ) {}

  then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.reply ??= this.transport.call(this.request).then(this.decode);
    return this.reply.then(fulfilled, rejected);
  }

  protected async *steps<P, A>(
    decode: (value: Wire) => P,
    encode: (value: A) => Wire,
  ): AsyncGenerator<Step<P, A>, void> {
    if (this.reply) throw new TypeError("the call has begun already");
    let [resolve, reject] = [(_: T) => {}, (_: unknown) => {}];
    this.reply = new Promise((fulfill, refuse) => ([resolve, reject] = [fulfill, refuse]));
    this.reply.catch(() => {});
    try {
      for await (const event of this.transport.stream(this.request)) {
        if ("reply" in event) return resolve(this.decode(event.reply));
        let send = event.answer;
        const answer = (value: Wire): void => {
          send?.(value);
          send = undefined;
        };
        yield new Step(decode(event.progress), (value: A) => answer(encode(value)));
        answer(null);
      }
    } catch (error) {
      reject(error);
      throw error;
    } finally {
      // A caller that ends the iteration early has no reply.
      reject(cancelled());
    }
  }
}

/** A call that begins when it is awaited or when its progress replies are read. */
export class Call<T> extends AnyCall<T> {
  /**
   * Calls the URL and iterates over its progress replies.
   *
   * The iteration ends when the reply has arrived, which `await` then returns.
   */
  progress(): AsyncGenerator<Step<JSONValue, Wire>, void>;
  progress<P>(type: Type<P>): AsyncGenerator<Step<P, Wire>, void>;
  progress(type?: Type<unknown>): AsyncGenerator<Step<unknown, Wire>, void> {
    return this.steps(type ? (value) => type.decode(value) : plain, (value) => value);
  }
}

/** A call like `Call`, whose progress replies `P` and answers `A` have types. */
export class ProgressCall<T, P, A> extends AnyCall<T> {
  constructor(
    transport: Transport,
    request: Request,
    decode: (value: Wire) => T,
    private readonly decodeStep: (value: Wire) => P,
    private readonly encodeAnswer: (value: A) => Wire,
  ) {
    super(transport, request, decode);
  }

  /** Iterates over the progress replies like the function of `Call`. */
  progress(): AsyncGenerator<Step<P, A>, void> {
    return this.steps(this.decodeStep, this.encodeAnswer);
  }
}

// Values as JSON.

type Members = { readonly [name: string]: Wire | undefined };

function mismatch(wanted: string, value: Wire | undefined): TypeError {
  const text = value === undefined ? "nothing" : stringify(value).slice(0, 80);
  return new TypeError(`the server sent ${text} in place of ${wanted}`);
}

function plain(value: Wire = null): JSONValue {
  if (value instanceof Digits) return Number(value.text);
  if (isArray(value)) return value.map((item) => plain(item));
  return isObject(value) ? mapped(value, (item) => plain(item)) : value;
}

function isArray(value: Wire | undefined): value is readonly Wire[] {
  return Array.isArray(value);
}

function isObject(value: Wire | undefined): value is { readonly [name: string]: Wire } {
  const isPlain = typeof value === "object" && !(value instanceof Digits);
  return isPlain && value !== null && !isArray(value);
}

function mapped<A, B>(
  members: { readonly [name: string]: A },
  body: (value: A) => B,
): { [name: string]: B } {
  const entries = Object.entries(members).map(([name, value]) => [name, body(value)]);
  return Object.fromEntries(entries) as { [name: string]: B };
}

function given(members: { [name: string]: Wire | undefined }): { [name: string]: Wire } {
  const entries = Object.entries(members).filter((entry) => entry[1] !== undefined);
  return Object.fromEntries(entries) as { [name: string]: Wire };
}

/** Returns a property that the object does not inherit. */
function own<T extends object, K extends keyof T>(value: T, name: K): T[K] {
  const isOwn = Object.prototype.hasOwnProperty.call(value, name);
  return (isOwn ? value[name] : undefined) as T[K];
}

function ifGiven<T>(value: T | undefined, encode: (value: T) => Wire): Wire | undefined {
  return value === undefined ? undefined : encode(value);
}

function orNull<T>(value: T | null, encode: (value: T) => Wire): Wire {
  return value === null ? null : encode(value);
}

function nothing(): void {}

function object(value: Wire | undefined): { readonly [name: string]: Wire } {
  if (isObject(value)) return value;
  throw mismatch("an object", value);
}

function boolean(value: Wire | undefined): boolean {
  if (typeof value === "boolean") return value;
  throw mismatch("a truth value", value);
}

function text(value: Wire | undefined): string {
  if (typeof value === "string") return value;
  throw mismatch("a text", value);
}

function integer(value: Wire | undefined): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw mismatch("a whole number", value);
}

function long(value: Wire | undefined): bigint {
  if (typeof value === "bigint") return value;
  return BigInt(integer(value));
}

function fromLong(value: number | bigint): bigint {
  if (typeof value === "bigint") return value;
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw new RangeError(`${value} is not a whole number that a number represents exactly`);
}

function float(value: Wire | undefined): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Digits) return Number(value.text);
  throw mismatch("a number", value);
}

function decimal(value: Wire | undefined): string {
  if (value instanceof Digits) return value.text;
  if (typeof value === "number" || typeof value === "bigint") return String(value);
  throw mismatch("a number", value);
}

function date(value: Wire | undefined): Date {
  const found = new Date(text(value));
  if (Number.isNaN(found.getTime())) throw mismatch("a date", value);
  return found;
}

function bytes(value: Wire | undefined): Uint8Array {
  const base64 = text(value);
  let characters: string;
  try {
    characters = atob(base64);
  } catch {
    throw mismatch("Base64", value);
  }
  return Uint8Array.from(characters, (character) => character.charCodeAt(0));
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Returns a text that has a character for each byte. */
function latin1(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return text;
}

function fromBytes(value: Uint8Array): string {
  return btoa(latin1(value));
}

function literal<T extends string>(constant: T): (value?: Wire) => T {
  return () => constant;
}

function array<T>(decode: (value: Wire) => T): (value?: Wire) => T[] {
  return (value) => {
    if (isArray(value)) return value.map((item) => decode(item));
    throw mismatch("an array", value);
  };
}

function dictionary<T>(
  decode: (value: Wire) => T,
): (value?: Wire) => { [name: string]: T } {
  return (value) => mapped(object(value), decode);
}

function nullable<T>(decode: (value: Wire) => T): (value?: Wire) => T | null {
  return (value) => (value === undefined || value === null ? null : decode(value));
}

function optional<T>(decode: (value: Wire) => T): (value?: Wire) => T | undefined {
  return (value) =>
    value === undefined || value === null ? undefined : decode(value);
}

/** Returns the value of a parameter as a segment of a URL. */
function segment(name: string, value: Wire): string {
  const text = value instanceof Digits ? value.text : String(value);
  if (text !== "") return encodeURIComponent(wellFormed(text));
  // The server would skip the empty segment, and could then call another route.
  const rule = "must have at least one character in each segment of the URL";
  throw failure("invalidParameter", `the parameter ${name} ${rule}`);
}

function path(name: string, value: string): string {
  return value
    .split("/")
    .map((part) => segment(name, part))
    .join("/");
}

/** Returns a text that has no half of a surrogate pair, which UTF-8 cannot represent. */
function wellFormed(text: string): string {
  if (!/\p{Surrogate}/u.test(text)) return text;
  throw failure("invalidParameter", "a text has half of a surrogate pair, and cannot be sent");
}

function stringify(value: Wire): string {
  if (value instanceof Digits) return value.text;
  if (typeof value === "string") return JSON.stringify(wellFormed(value));
  if (typeof value === "bigint") return String(value);
  if (isArray(value)) return `[${value.map(stringify).join(",")}]`;
  if (isObject(value)) {
    const members = Object.entries(given(value));
    return `{${members.map(([name, item]) => `${stringify(name)}:${stringify(item)}`).join(",")}}`;
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new RangeError(`${value} is not a number of JSON`);
  }
  return Object.is(value, -0) ? "-0" : JSON.stringify(value);
}

/** Parses JSON without losing a digit. */
export function parseJSON(json: string): Wire {
  // A number of fewer than 16 digits is exact, so most texts need no second parser.
  if (!/[\d.]{16}/.test(json)) return JSON.parse(json) as Wire;
  const pattern = /-?\d[-+.\deE]*|[a-z]+|["[\]{}]/g;
  const tokens: string[] = [];
  for (let found = pattern.exec(json); found; found = pattern.exec(json)) {
    if (found[0] === '"') pattern.lastIndex = endOfText(json, found.index);
    tokens.push(json.slice(found.index, pattern.lastIndex));
  }
  let next = 0;
  const read = (): Wire => {
    const token = tokens[next++] ?? "";
    if (token === "[") {
      const items: Wire[] = [];
      while (tokens[next] !== "]") items.push(read());
      next++;
      return items;
    }
    if (token === "{") {
      const members: [string, Wire][] = [];
      while (tokens[next] !== "}") members.push([String(read()), read()]);
      next++;
      return Object.fromEntries(members) as { [name: string]: Wire };
    }
    if (token.length < 16 || !/^-?\d/.test(token)) return JSON.parse(token) as Wire;
    return /^-?\d+$/.test(token) ? exact(BigInt(token)) : new Digits(token);
  };
  return read();
}

/**
 * Returns the index after the text that begins at an index.
 *
 * A regular expression would overflow its stack in a text with many escapes.
 */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end > 0; ) {
    let first = end;
    while (json[first - 1] === "\\") first--;
    if ((end - first) % 2 === 0) return end + 1;
    end = json.indexOf('"', end + 1);
  }
  throw new SyntaxError("a text of JSON has no end");
}

function exact(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function failure(code: string, message: string, data: Members = {}): WaybillError {
  if (!isObject(data.error)) return new WaybillError(code, message, data);
  const name = String(data.error.type);
  return new (declaredErrors.get(name) ?? DeclaredError)(name, message, data.error);
}

// Transports.

interface Request {
  readonly url: string;
  readonly values: { readonly [name: string]: Wire };
  readonly options: Options;
}

type Event =
  | { readonly reply: Wire }
  | { readonly progress: Wire; readonly answer?: (value: Wire) => void };

const cancelled = (): WaybillError =>
  failure("cancelled", "the caller has cancelled the call");

const closed = (): WaybillError => failure("unreachable", "the client is closed");

const silent = (): WaybillError => failure("unreachable", "the server is silent");

const tooLong = (): WaybillError =>
  failure("unreachable", `the server sent a line of over ${lineLimit} bytes`);

/** Returns an error of a connection with the code `unreachable`. */
function lost(error: unknown): WaybillError {
  if (error instanceof WaybillError) return error;
  return failure("unreachable", `the connection is lost: ${String(error)}`);
}

// The milliseconds in which a connection is opened and authenticated. A client that is
// closed has the same time to write what it has accepted.
const opening = 5000;
// The milliseconds that a stream of events may be silent, if the server sends no interval.
const silence = 45000;
// The longest time of a timer in milliseconds, because a longer timer expires at once.
const longest = 2 ** 31 - 1000;
// The length of the longest line; a server sends replies of up to 32 MiB.
const lineLimit = 1 << 26;
// The number of unread messages of a subscription, of which the oldest are dropped.
const unreadLimit = 1024;
const stream = "text/event-stream";
// The codes of failures after which a subscription that has begun connects again.
const passing = ["unreachable", "shutDown", "deadlineExceeded", "mailboxFull"];
// The codes of failures without a name, by the numbers of JSON-RPC and of HTTP.
const codes = new Map([
  [-32600, "invalidURL"],
  [-32601, "noRoute"],
  [-32602, "invalidParameter"],
  [429, "mailboxFull"],
  [502, "unreachable"],
  [503, "unreachable"],
  [504, "unreachable"],
]);

/** Splits texts that arrive in parts into lines. */
class Lines {
  private rest = "";

  /** Returns the lines that a part completes. */
  split(part: string): string[] {
    const [first = "", ...others] = part.split("\n");
    // Adding a text takes constant time, and `split` would take linear time.
    this.rest += first;
    if (this.rest.length > lineLimit) throw tooLong();
    if (others.length === 0) return [];
    const lines = [this.rest, ...others.slice(0, -1)];
    this.rest = others[others.length - 1] ?? "";
    return lines;
  }
}

/** Values that wait for their reader. */
class Queue<T> {
  private readonly values: T[] = [];
  private error?: unknown;
  private wake?: () => void;
  isClosed = false;
  hasGap = false;

  get length(): number {
    return this.values.length;
  }

  add(value: T, limit = Infinity): void {
    if (this.values.length >= limit) {
      this.values.shift();
      this.hasGap = true;
    }
    this.values.push(value);
    this.wake?.();
  }

  close(error?: unknown): void {
    this.error = error;
    this.isClosed = true;
    this.wake?.();
  }

  /** Iterates over the values until the queue is closed. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void> {
    while (true) {
      const value = this.values.shift();
      if (value !== undefined) yield value;
      else if (!this.isClosed) await new Promise<void>((resolve) => (this.wake = resolve));
      else if (this.error !== undefined) throw this.error;
      else return;
    }
  }
}

/**
 * The time of a call or of one connection of a subscription.
 *
 * The time ends early at the deadline, if the caller cancels, or with the client.
 */
class Lifetime {
  /** The error with which the time has ended. */
  error?: WaybillError;
  private readonly stops: ((error: WaybillError) => void)[] = [];
  private readonly deadline: number = Infinity;
  private readonly timer?: ReturnType<typeof setTimeout>;
  private readonly cancel = (): void => this.end(cancelled());

  constructor(
    private readonly transport: Transport,
    private readonly signal?: AbortSignal,
    timeout?: number,
  ) {
    transport.lives.add(this);
    signal?.addEventListener("abort", this.cancel);
    if (signal?.aborted) this.cancel();
    if (transport.isClosed) this.end(closed());
    if (timeout === undefined) return;
    const limit = Math.min(Math.max(0, timeout || 0), longest);
    this.deadline = performance.now() + limit;
    // The extra time lets the server's own error arrive.
    this.timer = setTimeout(() => {
      this.end(failure("deadlineExceeded", "the server did not answer in time"));
    }, limit + 250);
  }

  /** The whole milliseconds until the deadline. */
  get left(): number | undefined {
    const left = Math.max(0, Math.round(this.deadline - performance.now()));
    return left < Infinity ? left : undefined;
  }

  /** Calls a function when the time ends early, or at once if it has ended. */
  onEnd(stop: (error: WaybillError) => void): void {
    if (this.error) stop(this.error);
    else this.stops.push(stop);
  }

  end(error: WaybillError): void {
    if (this.error) return;
    this.error = error;
    for (const stop of this.stops) stop(error);
  }

  /** Awaits a part of the call, or the early end of the call. */
  until<T>(part: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onEnd(reject);
      part.then(resolve, reject);
    });
  }

  /** Releases what the time of a call uses. */
  dispose(): void {
    clearTimeout(this.timer);
    this.signal?.removeEventListener("abort", this.cancel);
    this.transport.lives.delete(this);
  }
}

/** A subscription, which continues on one connection after another. */
class OpenSubscription {
  /** The ID of the last event that has arrived over HTTP. */
  lastEvent = "";
  /** Whether messages before the next message may be missing. */
  isAfterGap = false;
  hasBegun = false;
  private longestPause = 50;
  private start = Infinity;

  constructor(readonly pattern: string) {}

  /** Notes that a connection has begun, which repeats what was missed if it is resumed. */
  begin(isResumed: boolean): void {
    if (this.hasBegun && !isResumed) this.isAfterGap = true;
    this.hasBegun = true;
    this.start = performance.now();
  }

  /** Returns a message that has arrived. */
  publication(data: Members, beside: Members): Publication {
    const message = {
      url: String(data.url),
      parameters: mapped(object(data.parameters ?? {}), plain),
      payload: plain(beside.payload),
      headers: mapped(object(beside.headers ?? {}), String),
      isAfterGap: this.isAfterGap,
    };
    this.isAfterGap = false;
    this.longestPause = 50;
    return message;
  }

  /**
   * Waits before the next connection, and longer each time.
   *
   * A short connection without a message counts as a failure: otherwise a server that
   * closes each connection at once would be contacted without a pause.
   */
  async pause(life: Lifetime): Promise<void> {
    if (performance.now() - this.start > 2000) this.longestPause = 50;
    this.start = Infinity;
    const time = this.longestPause * (0.5 + Math.random() / 2);
    const wait = new Promise((resolve) => setTimeout(resolve, time));
    await life.until(wait).catch(() => {});
    life.dispose();
    this.longestPause = Math.min(this.longestPause * 2, 2000);
  }
}

/** The parts that sockets and HTTP have in common. */
abstract class Transport {
  isClosed = false;
  /** The calls and subscriptions that have not ended. */
  readonly lives = new Set<Lifetime>();

  constructor(protected readonly configuration: Configuration) {}

  abstract call(request: Request): Promise<Wire>;
  abstract send(request: Request): Promise<void>;
  abstract ask(method: string, params: Members): Promise<Wire>;
  abstract stream(request: Request): AsyncGenerator<Event, void>;
  /** Subscribes on one connection, and iterates over the messages until it ends. */
  abstract messages(
    subscription: OpenSubscription,
    life: Lifetime,
  ): AsyncGenerator<Publication, void>;

  close(): void {
    this.isClosed = true;
    for (const life of this.lives) life.end(closed());
  }

  protected begin({ signal, timeout }: Options): Lifetime {
    const life = new Lifetime(this, signal, timeout ?? this.configuration.timeout);
    if (!life.error) return life;
    life.dispose();
    throw life.error;
  }

  protected async during<T>(
    options: Options,
    body: (life: Lifetime) => Promise<T>,
  ): Promise<T> {
    const life = this.begin(options);
    try {
      return await body(life);
    } catch (error) {
      throw life.error ?? error;
    } finally {
      life.dispose();
    }
  }
}

/** HTTP with server-sent events. */
class WebTransport extends Transport {
  constructor(
    private readonly base: string,
    configuration: Configuration,
  ) {
    super(configuration);
  }

  private async fetch(
    path: string,
    headers: { readonly [name: string]: string },
    life: Lifetime,
    body?: string,
  ): Promise<Response> {
    const { token } = this.configuration;
    const texts = { ...this.configuration.headers, ...headers };
    if (token !== undefined) texts.Authorization = `Bearer ${token}`;
    for (const [name, text] of Object.entries(texts)) {
      // The error of `fetch` would contain the text, which is possibly a secret.
      if (/[\r\n\0]/.test(text)) throw new TypeError(`the header ${name} has several lines`);
    }
    // `fetch` sends one byte for each character, and the server reads UTF-8.
    const fields = mapped(texts, (text) => latin1(utf8(wellFormed(text))));
    const stop = new AbortController();
    life.onEnd(() => stop.abort());
    // The server sends the head of a stream at once.
    const limit = headers.Accept === stream ? silence : longest;
    const timer = setTimeout(() => stop.abort(), limit);
    let response: Response;
    try {
      const method = body === undefined ? "GET" : "POST";
      response = await fetch(this.base + path, {
        method,
        headers: fields,
        body,
        // A redirected call would lose its body, or pass its headers to another server.
        redirect: "manual",
        signal: stop.signal,
      });
    } catch (error) {
      throw failure("unreachable", `${this.base}: ${String(error)}`);
    } finally {
      clearTimeout(timer);
    }
    const { status } = response;
    if (!response.ok) {
      const problem = await read(response).catch(() => null);
      throw this.error(isObject(problem) ? problem : {}, status);
    }
    const kind = response.headers.get("Content-Type") ?? "";
    const isStream = status === 200 && /^text\/event-stream\b/i.test(kind);
    if (isStream || headers.Accept !== stream) return response;
    response.body?.cancel().catch(() => {});
    throw failure("unreachable", `the response ${status} "${kind}" is no stream`);
  }

  private error(problem: Members, status = 200): WaybillError {
    const data = { ...problem, reference: problem.id };
    // A proxy whose server cannot be reached sends a status without a code.
    const code = problem.code ?? codes.get(status) ?? "refused";
    return failure(String(code), String(problem.detail ?? `HTTP status ${status}`), data);
  }

  private post(
    { url, values, options }: Request,
    accept: string,
    life: Lifetime,
  ): Promise<Response> {
    if (url.split("/").some((part) => part === "." || part === "..")) {
      throw failure("invalidURL", "HTTP has no segments `.` and `..`");
    }
    const headers: Record<string, string> = {
      "Content-Type": "application/json",
      Accept: accept,
      ...options.headers,
    };
    if (life.left !== undefined) headers["Waybill-Timeout"] = String(life.left);
    if (options.returnURL !== undefined) headers["Waybill-Return"] = options.returnURL;
    return this.fetch(`/${url.replace("://", "/")}`, headers, life, stringify(values));
  }

  call(request: Request): Promise<Wire> {
    return this.during(request.options, async (life) =>
      read(await this.post(request, "application/json", life)),
    );
  }

  async send(): Promise<void> {
    throw failure("refused", "HTTP has no messages without a reply");
  }

  async ask(method: string): Promise<Wire> {
    if (method !== "$/fingerprint") throw failure("refused", `HTTP has no method ${method}`);
    return this.during({}, async (life) => read(await this.fetch("/fingerprint", {}, life)));
  }

  async *stream(request: Request): AsyncGenerator<Event, void> {
    const life = this.begin(request.options);
    try {
      const response = await this.post(request, stream, life);
      for await (const { name, text } of events(response)) {
        if (name === "reply") yield { reply: parsed(text) };
        if (name === "progress") yield { progress: parsed(text) };
        if (name === "failure") throw this.error(object(parsed(text)));
      }
      throw failure("unreachable", "the stream ended without a reply");
    } catch (error) {
      throw life.error ?? error;
    } finally {
      life.dispose();
    }
  }

  async *messages(
    subscription: OpenSubscription,
    life: Lifetime,
  ): AsyncGenerator<Publication, void> {
    const path = `/subscribe?pattern=${encodeURIComponent(subscription.pattern)}`;
    const headers: Record<string, string> = { Accept: stream };
    const isResumed = subscription.lastEvent !== "";
    if (isResumed) headers["Last-Event-ID"] = subscription.lastEvent;
    const response = await this.fetch(path, headers, life);
    // Messages before the first event cannot be requested again.
    subscription.begin(isResumed);
    for await (const { name, id, text } of events(response)) {
      subscription.lastEvent = id || subscription.lastEvent;
      if (name === "gap") subscription.isAfterGap = true;
      if (name === "end") return;
      if (name !== "message") continue;
      let message: Publication;
      try {
        const data = object(parsed(text));
        message = subscription.publication(data, data);
      } catch (error) {
        // This message is missing before the next one.
        subscription.isAfterGap = true;
        throw error;
      }
      yield message;
    }
  }
}

/** Iterates over the parts of a response, which ends when it is silent for a time. */
async function* parts(response: Response, limit = longest): AsyncGenerator<string, void> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const stop = (): void => void reader?.cancel().catch(() => {});
  try {
    while (reader) {
      const timer = setTimeout(stop, Math.min(limit, longest));
      const { value, done } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } catch (error) {
    throw lost(error);
  } finally {
    stop();
  }
}

/** Parses a text of the server. */
function parsed(json: string): Wire {
  try {
    return parseJSON(json);
  } catch (error) {
    throw failure("unreachable", `the server has sent no JSON: ${String(error)}`);
  }
}

/** Returns the body of a response, or null if the response has none. */
async function read(response: Response): Promise<Wire> {
  let body = "";
  for await (const part of parts(response)) {
    body += part;
    if (body.length > lineLimit) throw tooLong();
  }
  if (body !== "") return parsed(body);
  if (response.status === 204) return null;
  throw failure("unreachable", "the response ended before its body");
}

/**
 * Iterates over the server-sent events of a response.
 *
 * A stream in which three heartbeats are missing has ended.
 */
async function* events(
  response: Response,
): AsyncGenerator<{ name: string; id: string; text: string }, void> {
  const heartbeat = Number(response.headers.get("Waybill-Heartbeat") ?? NaN);
  const limit = heartbeat > 0 ? 3 * heartbeat : silence;
  const lines = new Lines();
  let [name, id, size] = ["message", "", 0];
  let data: string[] = [];
  for await (const part of parts(response, limit)) {
    for (const whole of lines.split(part)) {
      const line = whole.replace(/\r$/, "");
      const [, key, text = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (line === "" && data.length > 0) {
        yield { name, id, text: data.join("\n") };
        [name, data, size] = ["message", [], 0];
      } else if (key === "event") name = text;
      else if (key === "id") id = text;
      else if (key === "data") {
        data.push(text);
        // An empty line of data takes memory as well.
        size += line.length;
        if (size > lineLimit) throw tooLong();
      }
    }
  }
}

// The part of Node's module `net` that the client uses.
interface Socket {
  write(text: string): boolean;
  end(): void;
  destroy(error?: Error): void;
  setEncoding(name: string): void;
  setKeepAlive(isOn: boolean, delay: number): void;
  on(event: string, listener: (value: string) => void): void;
}

/** A request without a response. */
interface Pending {
  resolve(result: Wire): void;
  reject(error: WaybillError): void;
  progress?(value: Wire, answer: (value: Wire) => void): void;
  /** The receiver of the messages if the request is a subscription. */
  feed?: Queue<Members>;
}

/** A connection that sends and receives lines of JSON-RPC. */
class Connection {
  private readonly pending = new Map<number, Pending>();
  /** The receivers of messages, by the numbers of their subscriptions. */
  private readonly feeds = new Map<number, Queue<Members>>();
  private readonly lines = new Lines();
  isOpen = true;
  /** Resolves when the unwritten bytes are few enough for another message, unless they are. */
  room?: Promise<void>;
  private makeRoom?: () => void;
  private hasNotified = false;
  private last = 0;

  constructor(
    private readonly socket: Socket,
    private readonly limit = 1 << 20,
  ) {
    socket.setEncoding("utf8");
    socket.on("data", (data) => this.take(data));
    socket.on("error", (error) => this.close(lost(error)));
    // Otherwise, the connection would be open until the server reads again.
    socket.on("end", () => this.isOpen && this.close());
    socket.on("close", () => this.close());
    socket.on("drain", () => this.makeRoom?.());
  }

  /** Sends a request, and returns its result. The early end of the call cancels the request. */
  ask(
    method: string,
    params: Members,
    life?: Lifetime,
    receivers: Omit<Pending, "resolve" | "reject"> = {},
  ): Promise<Wire> {
    return new Promise((resolve, reject) => {
      const id = ++this.last;
      this.write({ id, method, params: given({ ...params }) });
      this.pending.set(id, { resolve, reject, ...receivers });
      life?.onEnd((error) => {
        if (this.pending.delete(id)) this.notify("$/cancelRequest", { id });
        reject(error);
      });
    });
  }

  notify(method: string, params: Members): void {
    this.write({ method, params: given({ ...params }) });
  }

  close(error = failure("unreachable", "the connection is lost")): void {
    this.socket.destroy();
    this.fail(error);
  }

  /** Ends the connection when what has been accepted is written, within a time. */
  end(): void {
    if (!this.isOpen) return;
    const timer = setTimeout(() => this.socket.destroy(), opening);
    this.socket.on("close", () => clearTimeout(timer));
    this.socket.end();
    this.fail(closed());
  }

  private fail(error: WaybillError): void {
    this.isOpen = false;
    this.makeRoom?.();
    for (const pending of this.pending.values()) pending.reject(error);
    this.pending.clear();
    for (const feed of this.feeds.values()) feed.close();
    this.feeds.clear();
  }

  private error(error: Members): WaybillError {
    const data = isObject(error.data) ? error.data : {};
    const code = data.code ?? codes.get(Number(error.code)) ?? "handlerFailed";
    return failure(String(code), String(error.message), data);
  }

  private write(frame: { [name: string]: Wire }): void {
    if (!this.isOpen) throw failure("unreachable", "the connection is lost");
    const line = stringify({ jsonrpc: "2.0", ...frame });
    // A character has at most three bytes, so most lines need not be counted.
    const size = line.length * 3 > this.limit ? utf8(line).length : 0;
    if (size > this.limit) {
      // The server would close the connection, which all calls share.
      const remedy = "raise requestSize of the client and frameSize of the server";
      const excess = `${size} bytes, and the limit is ${this.limit}`;
      throw failure("notTransferable", `the message has ${excess}; ${remedy}`);
    }
    this.hasNotified ||= frame.id === undefined;
    if (this.socket.write(`${line}\n`)) return;
    this.room ??= new Promise((resolve) => {
      this.makeRoom = () => {
        delete this.room;
        resolve();
      };
    });
  }

  private take(data: string): void {
    if (!this.isOpen) return;
    try {
      for (const line of this.lines.split(data)) {
        this.receive(object(parsed(line)));
      }
    } catch (error) {
      this.close(lost(error));
    }
  }

  private receive(frame: Members): void {
    const params = isObject(frame.params) ? frame.params : {};
    if (frame.method === undefined) {
      this.finish(frame);
    } else if (frame.method === "$/progress") {
      const id = Number(params.id);
      const answer = (value: Wire): void => {
        if (this.isOpen) this.notify("$/answer", { id, value });
      };
      const { progress } = this.pending.get(id) ?? {};
      if (progress) progress(params.value ?? null, answer);
      else answer(null);
    } else if (frame.method === "$/message") {
      this.feeds.get(Number(params.subscription))?.add(params, unreadLimit);
    } else if (frame.method === "$/unsubscribe") {
      const id = Number(params.subscription);
      this.feeds.get(id)?.close();
      this.feeds.delete(id);
    }
  }

  private finish({ id, result, error }: Members): void {
    if (id === null && isObject(error)) {
      // The server has rejected a notification, which needs no answer.
      if (this.hasNotified) return;
      // The server has not read the ID of a request, which would never end.
      throw failure("unreachable", String(error.message));
    }
    const pending = this.pending.get(Number(id));
    if (isObject(error)) {
      pending?.reject(this.error(error));
    } else {
      // The next line may already be a message of the subscription.
      if (pending?.feed) this.feeds.set(integer(result), pending.feed);
      // The reader may have stopped before the subscription has begun.
      if (pending?.feed?.isClosed) this.unsubscribe(integer(result));
      pending?.resolve(result ?? null);
    }
    this.pending.delete(Number(id));
  }

  unsubscribe(subscription: number): void {
    const isKnown = this.feeds.delete(subscription);
    if (isKnown && this.isOpen) this.notify("$/unsubscribe", { subscription });
  }
}

/** JSON-RPC over a Unix socket or TCP, on one connection that is opened again. */
class SocketTransport extends Transport {
  private connection?: Promise<Connection>;

  constructor(
    private readonly address: object,
    configuration: Configuration,
  ) {
    super(configuration);
  }

  private async open(): Promise<Connection> {
    if (this.isClosed) throw closed();
    const opening = (this.connection ??= this.connect());
    const connection = await opening.catch((error) => {
      if (this.connection === opening) delete this.connection;
      throw error;
    });
    if (connection.isOpen) return connection;
    // Of several callers, the first one connects again.
    if (this.connection === opening) delete this.connection;
    return this.open();
  }

  private async connect(): Promise<Connection> {
    // Bundlers for browsers do not follow a name that is not a literal.
    const name: string = "node:net";
    const net = (await import(name)) as { createConnection(address: object): Socket };
    const socket = net.createConnection(this.address);
    // A subscription writes nothing, so only the system can find a lost server.
    socket.setKeepAlive(true, 60_000);
    const timer = setTimeout(() => socket.destroy(silent()), opening);
    try {
      await new Promise<void>((resolve, reject) => {
        socket.on("connect", () => resolve());
        socket.on("error", (error) => reject(error));
      });
      const { token, requestSize } = this.configuration;
      const connection = new Connection(socket, requestSize);
      if (token !== undefined) await connection.ask("$/authenticate", { token });
      return connection;
    } catch (error) {
      socket.destroy();
      throw lost(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Returns the method and the parameters of a request that is sent now. */
  private message(
    { url, values, options }: Request,
    life: Lifetime,
    hasProgress?: true,
  ): [string, Members] {
    if ("$waybill" in values) {
      // The server would read the value as the data that is sent beside the values.
      const reason = "the parameter $waybill is reserved, and cannot be sent";
      throw failure("notTransferable", reason);
    }
    const headers = { ...this.configuration.headers, ...options.headers };
    const beside = given({
      headers: Object.keys(headers).length > 0 ? headers : undefined,
      timeLeft: life.left,
      progress: hasProgress,
      answers: hasProgress,
    });
    const method = options.returnURL === undefined ? url : `${url}#${options.returnURL}`;
    const hasData = Object.keys(beside).length > 0;
    return [method, hasData ? { ...values, $waybill: beside } : values];
  }

  call(request: Request): Promise<Wire> {
    return this.during(request.options, async (life) => {
      const connection = await life.until(this.open());
      return connection.ask(...this.message(request, life), life);
    });
  }

  send(request: Request): Promise<void> {
    return this.during(request.options, async (life) => {
      const connection = await life.until(this.open());
      // Another sender may use the room before this function continues.
      while (connection.room) await life.until(connection.room);
      connection.notify(...this.message(request, life));
    });
  }

  ask(method: string, params: Members): Promise<Wire> {
    return this.during({}, async (life) => {
      const connection = await life.until(this.open());
      return connection.ask(method, params, life);
    });
  }

  async *stream(request: Request): AsyncGenerator<Event, void> {
    const life = this.begin(request.options);
    const queue = new Queue<Event>();
    try {
      const connection = await life.until(this.open());
      connection
        .ask(...this.message(request, life, true), life, {
          progress: (progress, answer) => {
            // The tasks of a handler wait for the answers.
            if (queue.length >= 64) throw new Error("progress replies come too fast");
            queue.add({ progress, answer });
          },
        })
        .then((reply) => queue.add({ reply }))
        .catch((error) => queue.close(error));
      yield* queue;
    } finally {
      // A reader that stops early cancels the call.
      life.end(cancelled());
      life.dispose();
    }
  }

  async *messages(
    subscription: OpenSubscription,
    life: Lifetime,
  ): AsyncGenerator<Publication, void> {
    const feed = new Queue<Members>();
    life.onEnd(() => feed.close());
    const connection = await life.until(this.open());
    const { pattern } = subscription;
    const asked = connection.ask("$/subscribe", { pattern }, undefined, { feed });
    const id = integer(await life.until(asked));
    subscription.begin(false);
    try {
      for await (const message of feed) {
        if (life.error) return;
        // The client or the server has dropped messages before this message.
        if (feed.hasGap || Number(message.missed) > 0) subscription.isAfterGap = true;
        feed.hasGap = false;
        if (message.error !== undefined) {
          // The server cannot send this message, which is missing before the next one.
          subscription.isAfterGap = true;
          continue;
        }
        const beside = isObject(message.$waybill) ? message.$waybill : {};
        yield subscription.publication(message, beside);
      }
    } finally {
      connection.unsubscribe(id);
    }
  }

  close(): void {
    super.close();
    this.connection?.then((connection) => connection.end()).catch(() => {});
  }
}

/** The connection of a client, which its namespaces share. */
class Client {
  protected readonly transport: Transport;

  constructor(address: string, configuration: Configuration = {}) {
    const [, host, port] = /^tcp:\[?(.*?)\]?:(\d+)$/.exec(address) ?? [];
    if (/^https?:[/\\]*[^/\\?#]*@/.test(address)) {
      const message = "the address has a user name: use `token` or a header instead";
      throw failure("invalidURL", message);
    }
    if (/^https?:/.test(address)) {
      this.transport = new WebTransport(address.replace(/\/$/, ""), configuration);
    } else if (host !== undefined) {
      this.transport = new SocketTransport({ host, port: Number(port) }, configuration);
    } else {
      const path = address.replace(/^unix:/, "");
      this.transport = new SocketTransport({ path }, configuration);
    }
  }

  /** Closes the client. Calls in flight and later calls fail, and subscriptions end. */
  close(): void {
    this.transport.close();
  }

  /**
   * Iterates over the messages that are published to a pattern.
   *
   * The subscription connects again after the connection is lost. Over HTTP, the
   * server then repeats the messages that were missed.
   */
  async *subscribe(
    pattern: string,
    signal?: AbortSignal,
  ): AsyncGenerator<Publication, void> {
    const { transport } = this;
    const subscription = new OpenSubscription(pattern);
    while (true) {
      const life = new Lifetime(transport, signal);
      try {
        if (!life.error) yield* transport.messages(subscription, life);
      } catch (error) {
        const isPassing = subscription.hasBegun && passing.includes(lost(error).code);
        if (!life.error && !isPassing) throw error;
      } finally {
        life.dispose();
      }
      if (life.error) return;
      await subscription.pause(new Lifetime(transport, signal));
    }
  }

  /** Publishes a message, and returns the number of subscribers that accept it. */
  async publish(url: string, parameters: { [name: string]: Wire } = {}): Promise<number> {
    return integer(await this.transport.ask("$/publish", { url, parameters }));
  }

  /**
   * Returns whether the server has exactly the routes of this client.
   *
   * A client of other routes still works unless `waybill diff` reports a change that
   * breaks callers.
   */
  async isCurrent(): Promise<boolean> {
    return (await this.transport.ask("$/fingerprint", {})) === fingerprint;
  }
}
