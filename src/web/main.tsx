import { load } from "../browser.ts";
import { assets } from "./assets.ts";

Object.assign(globalThis, { mineru: { load, assets } });
