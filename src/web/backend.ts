/** Where the page computes: in its own browser, or at the server that showed it. Both give the same parser. */
import { type FetchProgress, load, type Parser } from "../browser.ts";
import { assets } from "./assets.ts";

export type Place = "browser" | "server";
export type DeviceWish = "auto" | "cpu" | "webgpu";

export interface Engine {
  readonly place: Place;
  readonly device: DeviceWish;
  /** Of a server that wants one. */
  readonly apiKey: string;
}

const backend = document.documentElement.dataset.backend;

/** Whether a server shows this page, and whether it wants a key. */
export const served = backend === "server" || backend === "locked-server";
export const locked = backend === "locked-server";

export const firstEngine: Engine = { place: served ? "server" : "browser", device: "auto", apiKey: "" };

export interface EngineListener {
  readonly signal: AbortSignal;
  onDownload(progress: FetchProgress): void;
  onWarning(message: string): void;
}

/** Errors as `load`. */
export function connect({ place, device, apiKey }: Engine, listener: EngineListener): Promise<Parser> {
  const here = new URL(".", location.href).href;
  if (place === "server") return load({ server: { serverUrl: here, retries: 0, ...(apiKey ? { apiKey } : {}) }, assets, ...listener });
  return load({ modelUrl: new URL("mini", here), device, assets, ...listener });
}

/** In words, what computes. */
export function describe({ recognizer: { info } }: Parser, { place }: Engine): string {
  if (place === "server") return `${info.name} on this server`;
  const device = (info as { device?: { device: string } }).device?.device;
  return `${info.name} in this browser, on the ${device === "webgpu" ? "graphics processor" : "processor"}`;
}
