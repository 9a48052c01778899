/**
 * MinerU's own HTTP interface (mineru-api 3.x): whole documents in, Markdown and data out, at once (`/file_parse`) or as tasks that are
 * asked for later. Field names, states and status codes are MinerU's, so that programs made for it need not know the difference.
 */
import type { Context, Hono } from "hono";
import type { Place } from "./admission.ts";
import { announcedBytes, readBody } from "./body.ts";
import { failureOf, HttpFailure } from "./failure.ts";
import { type ParseForm, readParseForm } from "./parse-form.ts";
import { resultsJson, resultsZip, runParseJob } from "./parse-job.ts";
import type { ServerState } from "./server-state.ts";
import type { Task, Tasks } from "./tasks.ts";

/** The version of MinerU's protocol that is spoken. */
export const PROTOCOL_VERSION = 2;

const baseOf = (c: Context): string => new URL(c.req.url).origin;

function statusOf(task: Task, base: string) {
  return {
    task_id: task.id,
    status: task.status,
    backend: task.backend,
    file_names: task.fileNames,
    created_at: task.createdAt.toISOString(),
    started_at: task.startedAt?.toISOString() ?? null,
    completed_at: task.completedAt?.toISOString() ?? null,
    error: task.error,
    status_url: `${base}/tasks/${task.id}`,
    result_url: `${base}/tasks/${task.id}/result`,
    queued_ahead: task.status === "pending" ? task.ahead() : 0,
  };
}

function taskHeaders(c: Context, task: Task): void {
  const { status_url, result_url } = statusOf(task, baseOf(c));
  c.header("x-mineru-task-id", task.id);
  c.header("x-mineru-task-status", task.status);
  c.header("x-mineru-task-status-url", status_url);
  c.header("x-mineru-task-result-url", result_url);
}

export function documentRoutes(app: Hono, state: ServerState, tasks: Tasks): void {
  const { admission, limits, counters, parser, version } = state;

  /** Takes a place and the upload. The client may leave while it uploads; `follow` says whether also later. */
  const receive = async (c: Context, follow: boolean): Promise<{ place: Place; form: ParseForm }> => {
    const request = c.req.raw;
    const place = admission.enter(announcedBytes(request, limits.uploadBytes), follow ? request.signal : undefined);
    try {
      place.setDeadline(limits.timeoutMs);
      const body = await readBody(request, limits.uploadBytes, place.signal);
      return { place, form: await readParseForm(body, request.headers.get("content-type") ?? "") };
    } catch (error) {
      place.leave();
      throw place.signal.aborted ? place.signal.reason : error;
    }
  };

  const begin = (place: Place, form: ParseForm): Task =>
    tasks.add({ backend: form.backend, fileNames: form.files.map(({ stem }) => stem), ahead: () => place.ahead, cancel: place.abandon });

  /** Does a task; its end is told by the task itself. */
  const work = async (task: Task, place: Place, form: ParseForm, { afresh }: { readonly afresh: boolean }): Promise<HttpFailure | null> => {
    try {
      if (afresh) place.clearDeadline();
      await place.turn();
      if (afresh) place.setDeadline(limits.timeoutMs);
      tasks.begin(task);
      const onPage = (): void => counters.add("mineru_pages_total", "Pages that were read.");
      const results = await runParseJob(form, { parser, version, signal: place.signal, onPage });
      tasks.complete(
        task,
        form.asZip
          ? { kind: "zip", bytes: await resultsZip(results, form) }
          : { kind: "json", results: JSON.stringify(resultsJson(results, form)) },
      );
      return null;
    } catch (error) {
      const failure = failureOf(place.signal.aborted ? place.signal.reason : error);
      if (afresh) state.onFailure(failure);
      tasks.fail(task, failure.message);
      return failure;
    } finally {
      place.leave();
    }
  };

  /** The result in its form; `head` are fields that go before it in JSON. */
  const deliver = (c: Context, task: Task, head: object): Response => {
    tasks.fetched(task);
    taskHeaders(c, task);
    const result = task.result!;
    if (result.kind === "zip") {
      c.header("content-disposition", 'attachment; filename="results.zip"');
      return c.body(result.bytes as Uint8Array<ArrayBuffer>, 200, { "content-type": "application/zip" });
    }
    const fields = JSON.stringify({ ...head, version }).slice(0, -1);
    return c.body(`${fields},"results":${result.results}}`, 200, { "content-type": "application/json" });
  };

  const find = (c: Context): Task => {
    const task = tasks.get(c.req.param("id") ?? "");
    if (!task) throw new HttpFailure(404, "no-such-task", "Task not found: it is unknown, or its result is no longer kept");
    return task;
  };

  app.post("/file_parse", async (c) => {
    const { place, form } = await receive(c, true);
    const task = begin(place, form);
    const failure = await work(task, place, form, { afresh: false });
    if (!failure) return deliver(c, task, statusOf(task, baseOf(c)));
    tasks.fetched(task);
    taskHeaders(c, task);
    // A document that cannot be read is a conflict in MinerU's terms; limits and faults keep their own status.
    if (failure.status !== 400) throw failure;
    return c.json({ ...statusOf(task, baseOf(c)), message: "Task execution failed", detail: failure.message }, 409);
  });

  app.post("/tasks", async (c) => {
    const { place, form } = await receive(c, false);
    const task = begin(place, form);
    void work(task, place, form, { afresh: true });
    taskHeaders(c, task);
    return c.json({ ...statusOf(task, baseOf(c)), message: "Task submitted successfully" }, 202);
  });

  app.get("/tasks/:id", (c) => {
    const task = find(c);
    if (task.status === "failed") tasks.fetched(task);
    return c.json(statusOf(task, baseOf(c)));
  });

  app.get("/tasks/:id/result", (c) => {
    const task = find(c);
    if (task.status === "completed") return deliver(c, task, { backend: task.backend });
    taskHeaders(c, task);
    if (task.status !== "failed") return c.json({ ...statusOf(task, baseOf(c)), message: "Task result is not ready yet" }, 202);
    tasks.fetched(task);
    return c.json({ ...statusOf(task, baseOf(c)), message: "Task execution failed" }, 409);
  });

  app.delete("/tasks/:id", (c) => {
    const task = find(c);
    task.cancel();
    tasks.fetched(task);
    return c.json({ ...statusOf(task, baseOf(c)), message: "Task will be cancelled" }, 202);
  });
}
