/**
 * Who may use the model, and when: a few at once, some more in line, everyone else is sent away with the time after which to come back.
 * A place is taken before a request's body is read, so a crowd costs no memory; bodies held are counted too. Every place has a deadline
 * and follows its client: when either is gone, the place is free again. Knows nothing of what is done in a place.
 */
import { clientGone, HttpFailure } from "./failure.ts";

export interface AdmissionLimits {
  /** Places that work at once. */
  readonly atOnce: number;
  /** Places that wait in line. */
  readonly waiting: number;
  /** Bytes of bodies that all places together may hold. One place alone may hold any number. */
  readonly heldBytes: number;
}

export interface Place extends Disposable {
  /** Aborted when the client is gone or the deadline has passed; the reason is an `HttpFailure`. */
  readonly signal: AbortSignal;
  /** Places in line before this one; 0 once it works. */
  readonly ahead: number;
  /** Waits in line. Rejects with the signal's reason. */
  turn(): Promise<void>;
  /** From now on so long, and no longer. */
  setDeadline(milliseconds: number): void;
  /** Waiting takes as long as it takes. */
  clearDeadline(): void;
  /** The client is gone. */
  abandon(): void;
  /** Gives the place back; again is harmless. */
  leave(): void;
}

interface Waiting {
  readonly begin: () => void;
}

/** Work times are averaged over about so many places. */
const MEMORY = 8;

export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #line: Waiting[] = [];
  readonly #idle: (() => void)[] = [];
  #places = 0;
  #working = 0;
  #bytes = 0;
  #meanSeconds = 1;
  #open = true;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  get working(): number {
    return this.#working;
  }

  /** Places that do not work yet: in line, or still receiving their request. */
  get waiting(): number {
    return this.#places - this.#working;
  }

  get open(): boolean {
    return this.#open;
  }

  /** Seconds until a place is likely to be free. */
  get retryAfter(): number {
    return Math.min(60, Math.max(1, Math.ceil((this.#meanSeconds * (this.#line.length + 1)) / this.#limits.atOnce)));
  }

  /**
   * Takes a place for a request whose body has `bytes`.
   * @throws HttpFailure 503 while closing, 429 when there is no place.
   */
  enter(bytes: number, client?: AbortSignal): Place {
    if (!this.#open) throw new HttpFailure(503, "shutting-down", "the server is shutting down", { retryAfter: 10 });
    const { atOnce, waiting, heldBytes } = this.#limits;
    const { retryAfter } = this;
    if (this.#places >= atOnce + waiting)
      throw new HttpFailure(429, "queue-full", `${this.#places} requests are being worked on or wait; come back later`, { retryAfter });
    if (this.#places > 0 && this.#bytes + bytes > heldBytes)
      throw new HttpFailure(429, "memory-full", "the requests that wait hold as much memory as they may; come back later", { retryAfter });
    return this.#place(bytes, client);
  }

  /** Takes no more places; resolves when the last one is given back. */
  async close(): Promise<void> {
    this.#open = false;
    if (this.#places > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #place(bytes: number, client: AbortSignal | undefined): Place {
    const ends = new AbortController();
    const clientLeft = (): void => ends.abort(clientGone());
    if (client?.aborted) clientLeft();
    client?.addEventListener("abort", clientLeft, { once: true });
    let state: "new" | "waiting" | "working" | "left" = "new";
    let timer: NodeJS.Timeout | undefined;
    let began = 0;
    let entry: Waiting | undefined;
    this.#places++;
    this.#bytes += bytes;

    const begin = (): void => {
      state = "working";
      began = performance.now();
      this.#working++;
    };
    const turn = (): Promise<void> =>
      new Promise((resolve, reject) => {
        if (state !== "new") throw new Error("internal: a place waits once");
        if (ends.signal.aborted) return reject(ends.signal.reason);
        if (this.#working < this.#limits.atOnce && this.#line.length === 0) {
          begin();
          return resolve();
        }
        state = "waiting";
        const giveUp = (): void => reject(ends.signal.reason);
        ends.signal.addEventListener("abort", giveUp, { once: true });
        entry = {
          begin: () => {
            ends.signal.removeEventListener("abort", giveUp);
            begin();
            resolve();
          },
        };
        this.#line.push(entry);
      });
    const leave = (): void => {
      if (state === "left") return;
      if (state === "working") {
        this.#working--;
        this.#meanSeconds += ((performance.now() - began) / 1000 - this.#meanSeconds) / MEMORY;
      }
      if (entry && this.#line.includes(entry)) this.#line.splice(this.#line.indexOf(entry), 1);
      state = "left";
      clearTimeout(timer);
      client?.removeEventListener("abort", clientLeft);
      this.#places--;
      this.#bytes -= bytes;
      while (this.#working < this.#limits.atOnce && this.#line.length > 0) this.#line.shift()!.begin();
      if (this.#places === 0) for (const resolve of this.#idle.splice(0)) resolve();
    };
    const line = this.#line;
    return {
      signal: ends.signal,
      get ahead() {
        return entry ? Math.max(0, line.indexOf(entry)) : 0;
      },
      turn,
      setDeadline(milliseconds) {
        clearTimeout(timer);
        const seconds = milliseconds / 1000;
        const late = (): void => ends.abort(new HttpFailure(504, "deadline", `the answer was not ready within ${seconds} s`));
        timer = setTimeout(late, milliseconds);
      },
      clearDeadline: () => clearTimeout(timer),
      abandon: clientLeft,
      leave,
      [Symbol.dispose]: leave,
    };
  }
}
