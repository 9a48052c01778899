/** The Chromium of this machine, headless, with an empty profile; nothing is downloaded. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const places = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of the browser, null where there is none: then the tests that need it are skipped, and say so. */
export const chromiumPath: string | null = places.find((path) => path !== undefined && existsSync(path)) ?? null;

const flags = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export interface ChromiumOptions {
  /** WebGPU by the software adapter that comes with Chromium. Default: no graphics at all. */
  readonly webgpu?: boolean;
}

export async function launchChromium({ webgpu = false }: ChromiumOptions = {}): Promise<Browser> {
  if (chromiumPath === null) throw new Error("internal: there is no Chromium here");
  const graphics = webgpu ? ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"] : ["--disable-gpu"];
  return chromium.launch({ executablePath: chromiumPath, headless: true, args: [...flags, ...graphics] });
}
