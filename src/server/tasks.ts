/**
 * Parse tasks and their results, in memory: what waits, what is worked on, and what is finished until it is old or the results together
 * grow too large; then the oldest go first. A restart forgets them all. Knows how tasks are told to clients, not how they are done.
 */
import { randomUUID } from "node:crypto";

export type TaskStatus = "pending" | "processing" | "completed" | "failed";

/** A finished task's answer: JSON of the `results` object, or an archive. */
export type TaskResult = { readonly kind: "json"; readonly results: string } | { readonly kind: "zip"; readonly bytes: Uint8Array };

export interface Task {
  readonly id: string;
  readonly backend: string;
  readonly fileNames: readonly string[];
  readonly createdAt: Date;
  status: TaskStatus;
  startedAt: Date | null;
  completedAt: Date | null;
  error: string | null;
  result: TaskResult | null;
  /** Whether its end has been told to a client. */
  fetched: boolean;
  /** Places in line before it. */
  ahead(): number;
  cancel(): void;
}

export interface TaskLimits {
  readonly retentionSeconds: number;
  readonly resultBytes: number;
  readonly finished: number;
}

const bytesOf = ({ result }: Task): number =>
  result === null ? 0 : result.kind === "json" ? result.results.length * 2 : result.bytes.length;

export class Tasks {
  readonly limits: TaskLimits;
  readonly #tasks = new Map<string, Task>();
  readonly #waiters = new Set<() => void>();

  constructor(limits: TaskLimits) {
    this.limits = limits;
  }

  add(of: Pick<Task, "backend" | "fileNames" | "ahead" | "cancel">): Task {
    this.#forget();
    const task: Task = {
      ...of,
      id: randomUUID(),
      createdAt: new Date(),
      status: "pending",
      startedAt: null,
      completedAt: null,
      error: null,
      result: null,
      fetched: false,
    };
    this.#tasks.set(task.id, task);
    return task;
  }

  get(id: string): Task | undefined {
    this.#forget();
    return this.#tasks.get(id);
  }

  begin(task: Task): void {
    task.status = "processing";
    task.startedAt = new Date();
  }

  complete(task: Task, result: TaskResult): void {
    task.status = "completed";
    task.completedAt = new Date();
    task.result = result;
    this.#forget();
  }

  fail(task: Task, error: string): void {
    task.status = "failed";
    task.completedAt = new Date();
    task.error = error;
  }

  /** A client has been told the end. */
  fetched(task: Task): void {
    task.fetched = true;
    if (this.#allFetched()) for (const resolve of this.#waiters) resolve();
  }

  count(status: TaskStatus): number {
    let count = 0;
    for (const task of this.#tasks.values()) if (task.status === status) count++;
    return count;
  }

  /** Resolves when the ends of all tasks have been told, or after `milliseconds`. */
  async delivered(milliseconds: number): Promise<void> {
    if (this.#allFetched()) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiters.delete(done);
        resolve();
      };
      const timer = setTimeout(done, milliseconds);
      this.#waiters.add(done);
    });
  }

  #allFetched(): boolean {
    return [...this.#tasks.values()].every(({ fetched }) => fetched);
  }

  #forget(): void {
    const finished = [...this.#tasks.values()]
      .filter(({ completedAt }) => completedAt !== null)
      .sort((a, b) => a.completedAt!.getTime() - b.completedAt!.getTime());
    const oldest = Date.now() - this.limits.retentionSeconds * 1000;
    let bytes = finished.reduce((sum, task) => sum + bytesOf(task), 0);
    let count = finished.length;
    for (const task of finished) {
      // The newest stays, however large: it has just been made for someone.
      const tooMuch = count > 1 && (bytes > this.limits.resultBytes || count > this.limits.finished);
      if (!tooMuch && task.completedAt!.getTime() > oldest) break;
      this.#tasks.delete(task.id);
      bytes -= bytesOf(task);
      count--;
    }
  }
}
