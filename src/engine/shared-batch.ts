/**
 * Sequences of one block length, whoever asked for them, decoded side by side: each forward pass moves all of them, a place that becomes free
 * goes to the next caller in turn, and the batch is never wider than what is left to do. A caller that gives up, or whose question cannot be
 * put, leaves the others alone. Knows sequences and passes, not pictures or texts.
 */
import type { ModelConfig } from "../model/config.ts";
import { Engine } from "./engine.ts";
import type { Sequence } from "./sequence.ts";
import type { ModelSessions } from "./sessions.ts";

/** Places of one batch. More make every step longer for all and gain little. */
const MOST_PLACES = 16;

export interface BatchCall {
  /** Puts one question; called when its place is there. */
  readonly questions: readonly (() => Promise<Sequence>)[];
  /** Questions of this call that are decoded at once. */
  readonly atOnce: number;
  readonly signal?: AbortSignal;
  /** Told after every pass that `sequence`, of the question `index`, took part in; its last has `sequence.decode`. */
  readonly report: (index: number, sequence: Sequence) => void;
}

interface OpenCall extends BatchCall {
  next: number;
  readonly active: Map<Sequence, number>;
  resolve(): void;
  reject(reason: unknown): void;
}

export class SharedBatch {
  readonly #config: ModelConfig;
  readonly #sessions: ModelSessions;
  /** In the order of their turns. */
  readonly #calls: OpenCall[] = [];
  #engine: Engine | null = null;

  constructor(config: ModelConfig, sessions: ModelSessions) {
    this.#config = config;
    this.#sessions = sessions;
  }

  /** Decodes all questions of a call. Rejects with what `report` or a question threw, with a failed pass, or with the signal's reason. */
  run(call: BatchCall): Promise<void> {
    return new Promise((resolve, reject) => {
      call.signal?.throwIfAborted();
      this.#calls.push({ ...call, next: 0, active: new Map(), resolve, reject });
      if (!this.#engine) void this.#work();
    });
  }

  async #work(): Promise<void> {
    const engine = new Engine(this.#config, this.#sessions, 1);
    this.#engine = engine;
    while (this.#calls.length > 0) {
      for (const call of this.#calls.filter(({ signal }) => signal?.aborted)) this.#end(call, () => call.reject(call.signal!.reason));
      const call = this.#calls.find(({ next, questions, active, atOnce }) => next < questions.length && active.size < atOnce);
      const room = Math.min(MOST_PLACES, this.#wanted());
      if (call && engine.active.length < MOST_PLACES) {
        if (!engine.hasRoom) engine.resize(room);
        await this.#guarded([call], () => this.#begin(call, engine));
      } else if (engine.active.length > 0) {
        if (room <= engine.places / 2) engine.resize(room);
        await this.#guarded(this.#calls, () => engine.step());
        for (const each of [...this.#calls])
          for (const sequence of [...each.active.keys()]) await this.#guarded([each], () => this.#report(each, sequence));
      }
    }
    this.#engine = null;
  }

  /** Places that all calls together could fill now. */
  #wanted(): number {
    return this.#calls.reduce(
      (sum, { active, next, questions, atOnce }) => sum + Math.min(atOnce, active.size + questions.length - next),
      0,
    );
  }

  async #begin(call: OpenCall, engine: Engine): Promise<void> {
    const index = call.next++;
    // Its next turn comes after the others'.
    this.#calls.push(...this.#calls.splice(this.#calls.indexOf(call), 1));
    const sequence = await call.questions[index]();
    if (call.signal?.aborted) return;
    await engine.add(sequence);
    call.active.set(sequence, index);
    this.#report(call, sequence);
  }

  #report(call: OpenCall, sequence: Sequence): void {
    const index = call.active.get(sequence);
    if (index === undefined) return;
    if (sequence.decode) {
      call.active.delete(sequence);
      this.#engine!.remove(sequence);
    }
    call.report(index, sequence);
    if (call.active.size === 0 && call.next === call.questions.length) this.#end(call, () => call.resolve());
  }

  /** A failure ends the calls it concerns. */
  async #guarded(calls: readonly OpenCall[], work: () => Promise<void> | void): Promise<void> {
    try {
      await work();
    } catch (error) {
      for (const call of [...calls]) this.#end(call, () => call.reject(error));
    }
  }

  #end(call: OpenCall, settle: () => void): void {
    const place = this.#calls.indexOf(call);
    if (place < 0) return;
    this.#calls.splice(place, 1);
    for (const sequence of call.active.keys()) this.#engine!.remove(sequence);
    settle();
  }
}
