/**
 * The built page in a real Chromium: `mini` wholly in the browser, and the page as a server shows it. Where there is no Chromium (or no build)
 * these tests are skipped and say so; `CHROMIUM` names one in another place.
 */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { crop } from "../src/image/rgb-image.ts";
import { type DocumentJson, decodeImage, encodePng, load, type Parser } from "../src/index.ts";
import { createServerApp } from "../src/server/app.ts";
import { listen } from "../src/server/listen.ts";
import { webPageIn } from "../src/server/web-page.ts";
import { accessibilityFaults } from "./web/accessibility.ts";
import { chromiumPath, launchChromium } from "./web/chromium.ts";
import { type StaticServer, serveFolders } from "./web/static-server.ts";
import { namesInZip } from "./web/zip-names.ts";

const build = new URL("../dist/web", import.meta.url).pathname;
const sample = (name: string): string => new URL(`./samples/${name}`, import.meta.url).pathname;
const missing = chromiumPath === null ? "no Chromium: apt-get install chromium" : existsSync(build) ? null : "no page: npm run build:web";
if (missing) console.warn(`The web page is not tested: ${missing}`);

/** A browser on a machine with other work to do is slow; what hangs is told by the step it hangs in. */
const PATIENCE_MS = 150_000;
vi.setConfig({ testTimeout: 2 * PATIENCE_MS, hookTimeout: PATIENCE_MS });

/** One printed line: enough to read, and quick. */
async function lineOfPrint(): Promise<{ readonly name: string; readonly mimeType: string; readonly buffer: Buffer }> {
  const page = await decodeImage(await readFile(sample("testocr.png")));
  return { name: "line.png", mimeType: "image/png", buffer: Buffer.from(await encodePng(crop(page, [0, 80, page.width, 125]))) };
}

const status = (page: Page) => page.getByRole("status");
/** What goes wrong is told at once, in the page's own words. */
async function readingDone(page: Page): Promise<void> {
  const alert = page.getByRole("alert");
  await status(page)
    .filter({ hasText: /read in/ })
    .or(alert)
    .first()
    .waitFor();
  expect(await alert.allTextContents()).toEqual([]);
}
const open = (page: Page, file: Parameters<Page["setInputFiles"]>[1]) => page.setInputFiles("input[type=file]", file);
const tab = (page: Page, name: string) => page.getByRole("tab", { name, exact: true }).click();

async function downloaded(page: Page, kind: string): Promise<{ readonly name: string; readonly bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: `Download ${kind}` }).click()]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

/** Tokens of all regions, as the library tells them in its JSON. */
const tokensOf = ({ pages }: Pick<DocumentJson, "pages">) => pages.flatMap(({ regions }) => regions.flatMap(({ tokens }) => tokens ?? []));

describe.skipIf(missing !== null)("the web page", () => {
  let browser: Browser;
  let page: Page;
  const faults: string[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    faults.length = 0;
    page = await browser.newPage({ acceptDownloads: true, reducedMotion: "reduce" });
    page.setDefaultTimeout(PATIENCE_MS);
    page.on("pageerror", ({ message }) => faults.push(message));
    page.on("console", (message) => message.type() === "error" && faults.push(message.text()));
    page.on("request", (request) => new URL(request.url()).hostname !== "127.0.0.1" && faults.push(`asked ${request.url()}`));
    return async () => {
      await page.close();
      expect(faults).toEqual([]);
    };
  });

  describe("on a static host", () => {
    let host: StaticServer;
    beforeAll(async () => {
      host = await serveFolders([build]);
    });
    afterAll(() => host?.[Symbol.asyncDispose]());
    beforeEach(async () => {
      // Nothing is uploaded.
      page.on("request", (request) => request.method() !== "GET" && faults.push(`sent ${request.method()} ${request.url()}`));
      await page.goto(host.url);
    });

    test("reads a PDF into the tokens that Node reads, step by step", async () => {
      await open(page, sample("ocr_test.pdf"));
      await readingDone(page);
      const { name, bytes } = await downloaded(page, "JSON");
      expect(name).toBe("ocr_test.json");
      const found = JSON.parse(bytes.toString()) as DocumentJson;
      await using parser = await load({ model: join(build, "mini"), thread: "own", precision: "float32", device: "cpu" });
      const expected: Parameters<typeof tokensOf>[0]["pages"][number][] = [];
      const decoding = { blockLength: 32, rule: { strategy: "low_confidence_dynamic", threshold: 0.95 } as const };
      for await (const { page: read } of parser.parse(sample("ocr_test.pdf"), { keepTokens: true, decoding }))
        expected.push({ ...read, page: read.index } as unknown as (typeof expected)[number]);
      const [browsers, nodes] = [tokensOf(found), tokensOf({ pages: expected })];
      expect(nodes.length).toBeGreaterThan(20);
      expect(browsers.map(({ text, step }) => [text, step])).toEqual(nodes.map(({ text, step }) => [text, step]));
      for (const [i, { confidence }] of nodes.entries()) expect(Math.abs(browsers[i].confidence - confidence)).toBeLessThan(1e-3);
    });

    test("shows the page, its regions and what was read, and hands it over", async () => {
      await open(page, await lineOfPrint());
      await readingDone(page);
      expect(await page.getByRole("img", { name: /as it was given/ }).count()).toBe(1);
      expect(await page.getByRole("button", { name: /^Region 1/ }).getAttribute("aria-pressed")).toBe("true");
      const text = (await page.locator(".answer").textContent())!.trim();
      expect(text.length).toBeGreaterThan(10);
      await tab(page, "Markdown");
      const markdown = await page.getByRole("region", { name: "Markdown" }).textContent();
      expect((await downloaded(page, "Markdown")).bytes.toString()).toBe(markdown);
      const { name, bytes } = await downloaded(page, "ZIP");
      expect(name).toBe("line.zip");
      expect(namesInZip(bytes)).toEqual(["line.md", "line.json", "line_content_list.json", "line.html"]);
    });

    test("text crystallises under the slider, by keys as well, and beside autoregression", async () => {
      await open(page, await lineOfPrint());
      await readingDone(page);
      await page.getByRole("button", { name: /^Region 1/ }).click();
      const slider = page.getByRole("slider", { name: "Step" });
      const steps = Number(await slider.getAttribute("max"));
      const cells = (state: string) => page.locator(`.cells .cell.${state}`).count();
      await slider.focus();
      await slider.press("Home");
      expect([await cells("mask"), await cells("settled")]).toEqual([32, 0]);
      await slider.press("ArrowRight");
      expect(await slider.getAttribute("aria-valuetext")).toBe(`Step 1 of ${steps}`);
      expect(await cells("new")).toBeGreaterThan(0);
      await slider.press("End");
      expect([await cells("mask"), await cells("candidate")]).toEqual([0, 0]);

      await slider.press("Home");
      await slider.press(" ");
      await expect.poll(() => slider.inputValue(), { timeout: PATIENCE_MS }).toBe(String(steps));

      const list = page.getByRole("listbox");
      await list.press("ArrowRight");
      expect(await page.locator(".candidates").textContent()).toMatch(/^Position 2: /);
      await slider.press("Home");
      await slider.press("ArrowRight");
      const candidates = await page.locator(".candidates li").evaluateAll((rows) =>
        rows.map((row) => {
          const track = row.querySelector(".share-bar")!;
          const width = (element: Element): number => element.getBoundingClientRect().width;
          return { said: row.querySelector(".share")!.textContent, drawn: width(track.firstElementChild!) / width(track) };
        }),
      );
      expect(candidates.length).toBe(4);
      // A bar is as long as its candidate is probable, and the likeliest stands first.
      for (const { said, drawn } of candidates) {
        if (said === "< 0.1 %") expect(drawn).toBeLessThan(0.001);
        else expect(Math.abs(drawn - Number.parseFloat(said) / 100)).toBeLessThan(0.002);
      }
      expect(candidates.map(({ drawn }) => drawn)).toEqual(candidates.map(({ drawn }) => drawn).sort((a, b) => b - a));
      expect(candidates.reduce((sum, { drawn }) => sum + drawn, 0)).toBeLessThan(1.01);
      expect(await page.locator(".candidates p").textContent()).toContain(`, ${candidates[0].said},`);

      await page.getByRole("button", { name: "Compare with autoregression" }).click();
      await status(page).filter({ hasText: "token by token in" }).waitFor();
      const panes = page.locator(".pane");
      expect(await panes.count()).toBe(2);
      expect(await panes.nth(1).getByRole("heading").textContent()).toBe("Autoregression, token by token");
      expect(Number(await panes.nth(1).locator(".figures b").first().textContent())).toBeGreaterThan(1);
    });

    test("decodes with other settings when it is told to", async () => {
      await open(page, await lineOfPrint());
      await readingDone(page);
      const slider = page.getByRole("slider", { name: "Block length" });
      await slider.focus();
      for (let i = 0; i < 2; i++) await slider.press("ArrowLeft");
      expect(await slider.getAttribute("aria-valuetext")).toBe("8 positions");
      await page.getByRole("slider", { name: "Threshold" }).fill("0.8");
      await page.getByRole("button", { name: "Read again" }).click();
      await page.getByRole("button", { name: "Stop" }).waitFor();
      await readingDone(page);
      await tab(page, "Steps");
      await page.getByRole("heading", { name: "Diffusion, blocks of 8" }).waitFor();
    });

    test("takes a file that is dropped, and says what is wrong with one that is none", async () => {
      const drop = (name: string, text: string) =>
        page.evaluate(
          ([fileName, content]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([content], fileName));
            document.body.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: transfer }));
          },
          [name, text] as const,
        );
      await drop("notes.txt", "not a picture");
      await page.getByRole("alert").waitFor();
      expect(await page.getByRole("alert").textContent()).toMatch(/PDF/);
      await open(page, await lineOfPrint());
      await page.getByRole("alert").waitFor({ state: "detached" });
      await readingDone(page);
    });

    test.each(["light", "dark"] as const)("can be used without eyes, without a mouse and with weak eyes: %s", async (colorScheme) => {
      await page.emulateMedia({ colorScheme });
      expect(await page.evaluate(accessibilityFaults)).toEqual([]);
      // The keyboard reaches the file chooser first.
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Choose a PDF or picture");
      await open(page, await lineOfPrint());
      await readingDone(page);
      for (const name of ["Text", "Markdown", "Steps"]) {
        await tab(page, name);
        expect(await page.evaluate(accessibilityFaults)).toEqual([]);
      }
      await page.getByRole("slider", { name: "Step" }).fill("1");
      expect(await page.evaluate(accessibilityFaults)).toEqual([]);
      // WCAG's narrowest screen.
      await page.setViewportSize({ width: 320, height: 640 });
      for (const name of ["Text", "Markdown", "Steps"]) {
        await tab(page, name);
        expect(await page.evaluate(accessibilityFaults)).toEqual([]);
      }
    });

    test("on a narrow screen, a region that is chosen brings its steps into sight", async () => {
      await page.setViewportSize({ width: 390, height: 700 });
      await open(page, sample("testocr.png"));
      await readingDone(page);
      await page.evaluate(() => scrollTo(0, 0));
      const steps = page.getByRole("tab", { name: "Steps" });
      const inSight = () => steps.evaluate((element) => element.getBoundingClientRect().top < innerHeight / 2);
      expect(await inSight()).toBe(false);
      await page.getByRole("button", { name: /^Region 1/ }).click();
      await expect.poll(inSight, { timeout: PATIENCE_MS }).toBe(true);
      expect(await steps.getAttribute("aria-selected")).toBe("true");
    });
  });

  describe("as a server shows it", () => {
    let parser: Parser;
    const stop = new AbortController();
    let url: string;
    let done: Promise<void>;
    beforeAll(async () => {
      parser = await load({ thread: "pages" });
      const app = createServerApp({ parser, version: "1.2.3", apiKey: "secret", webPage: webPageIn(build) });
      url = await new Promise((resolve, reject) => {
        done = listen(app, { host: "127.0.0.1", port: 0, signal: stop.signal, onListening: resolve });
        done.catch(reject);
      });
    });
    afterAll(async () => {
      stop.abort();
      await done;
      await parser?.close();
    });

    test("asks the server, with its key, and shows the same steps", async () => {
      await page.goto(url);
      await page.getByLabel("API key").fill("secret");
      await open(page, await lineOfPrint());
      await readingDone(page);
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("mini on this server");
      await tab(page, "Steps");
      await page.getByRole("slider", { name: "Step" }).fill("1");
      expect(await page.locator(".cells .cell.new").count()).toBeGreaterThan(0);
    });

    test("computes in the browser where that is wished, under the same policy", async () => {
      await page.goto(url);
      await page.getByLabel("Compute").selectOption("browser");
      // The codec of WebP writes code at run time where it may; here it may not.
      const { buffer } = await lineOfPrint();
      const webp = await page.evaluate(async (png) => {
        const bytes = Uint8Array.from(atob(png), (char) => char.charCodeAt(0));
        const picture = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
        const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height });
        canvas.getContext("2d")!.drawImage(picture, 0, 0);
        return canvas.toDataURL("image/webp", 1).split(",")[1];
      }, buffer.toString("base64"));
      await open(page, { name: "line.webp", mimeType: "image/webp", buffer: Buffer.from(webp, "base64") });
      await readingDone(page);
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain("in this browser, on the processor");
      expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    });
  });
});
