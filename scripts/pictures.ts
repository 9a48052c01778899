/**
 * Makes every picture in the documentation from a real run of the built page in Chromium: npm run build:web && npx tsx scripts/pictures.ts
 * [build folder]. Takes a minute on two idle cores.
 */
import { fileURLToPath } from "node:url";
import { launchChromium } from "../test/web/chromium.ts";
import { serveFolders } from "../test/web/static-server.ts";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const build = process.argv[2] ?? here("../dist/web");
const picture = (name: string): string => here(`../docs/pictures/${name}.png`);
const sample = here("../test/samples/testocr.png");
const PATIENCE_MS = 600_000;

await using server = await serveFolders([build]);
const browser = await launchChromium();
try {
  const page = await browser.newPage({ viewport: { width: 1360, height: 860 }, deviceScaleFactor: 1.5, colorScheme: "light" });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(server.url);
  await page.screenshot({ path: picture("start") });
  await page.setInputFiles("input[type=file]", sample);
  await page.locator(".live .grain").first().waitFor();
  await page.waitForFunction(() => document.querySelectorAll(".live .plain").length > 3);
  await page.screenshot({ path: picture("reading") });
  await page.getByRole("status").filter({ hasText: "read in" }).waitFor();
  await page.screenshot({ path: picture("text") });

  await page.getByRole("tab", { name: "Steps" }).click();
  const slider = page.getByRole("slider", { name: "Step" });
  const steps = Number(await slider.getAttribute("max"));
  await slider.fill(String(Math.round(steps * 0.3)));
  // The first position the model is not sure of is the one to look into.
  const doubtful = page.locator(".cells .cell.candidate:not(.beyond)").first();
  if (await doubtful.isVisible()) await doubtful.click();
  await page.screenshot({ path: picture("steps") });

  await page.getByRole("button", { name: "Compare with autoregression" }).click();
  await page.locator(".pane").nth(1).waitFor();
  await page.getByRole("status").filter({ hasText: "token by token in" }).waitFor();
  await slider.fill(String(Math.round(steps * 0.6)));
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: picture("comparison"), fullPage: true });
} finally {
  await browser.close();
}
