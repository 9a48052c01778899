/**
 * The thread that makes training samples: asked for pool number k, it answers with the prepared samples of that pool, a function of
 * (seed, stage, k) alone. Buffers are transferred, not copied.
 */
import { parentPort, workerData } from "node:worker_threads";
import { openSamplePools, type PoolRequest, type SamplePoolOptions } from "./sample-pools.ts";

const port = parentPort;
if (!port) throw new Error("internal: the sample worker expected to run in a worker thread");

const pools = await openSamplePools(workerData as SamplePoolOptions);
port.on("message", (request: PoolRequest) => {
  const samples = pools.pool(request);
  port.postMessage(
    { request, samples },
    samples.map(({ patches }) => patches.buffer as ArrayBuffer),
  );
});
port.postMessage({ ready: true });
