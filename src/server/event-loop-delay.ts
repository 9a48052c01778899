/** How late the event loop is: what a timer was late by, since the last look. A server that stands still answers nobody. */
import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 10;

/** Starts watching; the function returned gives gauges for `Counters.text` and begins anew. */
export function watchEventLoop(): () => Readonly<Record<string, readonly [help: string, seconds: number]>> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  // The monitor tells the time between two looks, which is never shorter than its resolution. Without a look it tells NaN.
  const late = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e9 - RESOLUTION_MS / 1000) || 0;
  return () => {
    const [middle, high, most] = [delay.percentile(50), delay.percentile(99), delay.max].map(late);
    delay.reset();
    return {
      nodejs_eventloop_lag_p50_seconds: ["Delay of the event loop since the last look, median.", middle],
      nodejs_eventloop_lag_p99_seconds: ["Delay of the event loop since the last look, 99th percentile.", high],
      nodejs_eventloop_lag_max_seconds: ["Delay of the event loop since the last look, largest.", most],
    };
  };
}
