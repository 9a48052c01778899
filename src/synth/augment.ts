/**
 * Which damages go together: about half of the samples stay (nearly) clean, the rest become a grey scan, a one-bit
 * scan, a photograph, or print on a coloured or textured ground. Character centres follow every warp. A pure function
 * of the sample, the stream and the strength; it refuses to know what the sample says.
 */
import type { RgbImage } from "../image/rgb-image.ts";
import type { SynthCharacter } from "./align.ts";
import {
  brightnessContrast,
  gaussianBlur,
  gaussianNoise,
  inverted,
  motionBlur,
  paperGrain,
  scanLines,
  shade,
  shiftColours,
  softenByScale,
  speckle,
  spreadInk,
  toOneBit,
  warp,
  watermark,
} from "./damage.ts";
import { jpegArtefacts } from "./jpeg-blocks.ts";
import type { Random } from "./random.ts";

export interface Picture {
  readonly image: RgbImage;
  readonly characters: readonly SynthCharacter[];
}

export interface DamagedPicture extends Picture {
  /** Names of the damages done, in order. */
  readonly applied: readonly string[];
}

const PROFILES = { clean: 34, mild: 18, scan: 20, bitonal: 12, photo: 10, ground: 6 } as const;

const MAX_TURN = (1.5 * Math.PI) / 180;

/** Mean height of the characters in pixels: the yardstick for blur and spread. */
function inkHeight(characters: readonly SynthCharacter[]): number {
  return characters.length === 0 ? 16 : characters.reduce((sum, character) => sum + character.height, 0) / characters.length;
}

/**
 * Damages `picture`.
 * @param strength 0 leaves it alone, 1 is the hardest.
 * @param options.photometricOnly leaves every pixel where it is (for pages whose boxes must stay true).
 * @throws RangeError if `strength` is not in 0..1.
 */
export function augment(
  picture: Picture,
  random: Random,
  strength: number,
  options: { readonly photometricOnly?: boolean } = {},
): DamagedPicture {
  if (!(strength >= 0 && strength <= 1)) throw new RangeError(`\`strength\` expected 0..1, got ${strength}`);
  const applied: string[] = [];
  let { image, characters } = picture;
  if (strength === 0) return { image, characters, applied };
  const apply = (name: string, change: (image: RgbImage) => RgbImage): void => {
    image = change(image);
    applied.push(name);
  };
  const maybe = (probability: number, name: string, change: (image: RgbImage) => RgbImage): void => {
    if (random.chance(probability)) apply(name, change);
  };
  const bend = (probability: number): void => {
    if (options.photometricOnly || !random.chance(probability)) return;
    const radians = Math.max(-1, Math.min(1, random.normal() / 2)) * MAX_TURN * strength;
    const moved = warp(image, random, radians, random.chance(0.5) ? 2.5 * strength : 0);
    image = moved.image;
    characters = characters.map((character) => {
      const [x, y] = moved.move([character.x, character.y]);
      return { ...character, x, y };
    });
    applied.push("warp");
  };
  /** Blur scaled so that small print stays legible. */
  const softness = Math.min(1, inkHeight(characters) / 16);
  const blur = (source: RgbImage) => gaussianBlur(source, random.range(0.3, 0.4 + 0.8 * strength) * softness);
  const light = (source: RgbImage) => brightnessContrast(source, random.range(-35, 30) * strength, 1 + random.range(-0.4, 0.2) * strength);
  const soften = (source: RgbImage) => softenByScale(source, 1 - random.range(0.1, 0.5) * strength * softness);
  const noise = (source: RgbImage) => gaussianNoise(source, random, random.range(2, 4 + 14 * strength), random.chance(0.6));
  const ink = (source: RgbImage) => spreadInk(source, random.range(-0.45, 0.8) * strength * softness);
  const compress = (source: RgbImage) => jpegArtefacts(source, Math.round(random.range(90 - 60 * strength, 92)));

  const profile = random.weighted(PROFILES);
  if (profile === "mild") {
    const one = random.pick([light, soften, blur, noise, ink, compress]);
    apply("mild", one);
  } else if (profile === "scan") {
    bend(0.5);
    maybe(0.4, "ink", ink);
    maybe(0.35, "soften", soften);
    maybe(0.4, "blur", blur);
    maybe(0.35, "grain", (source) => paperGrain(source, random, random.pick([2, 4, 16, 40]), random.range(6, 40) * strength));
    maybe(0.3, "shade", (source) => shade(source, random, random.range(0.05, 0.35) * strength));
    maybe(0.5, "noise", noise);
    maybe(0.6, "light", light);
    maybe(0.25, "specks", (source) => speckle(source, random, random.range(0.0002, 0.003) * strength));
    maybe(0.3, "jpeg", compress);
  } else if (profile === "bitonal") {
    bend(0.45);
    maybe(0.4, "ink", ink);
    apply("blur", (source) => gaussianBlur(source, random.range(0.3, 0.7) * softness));
    maybe(0.4, "noise", noise);
    apply("one-bit", (source) => toOneBit(source, random, 128 + random.range(-24, 50) * strength, random.range(0, 30) * strength));
    maybe(0.35, "specks", (source) => speckle(source, random, random.range(0.0002, 0.003) * strength));
    // A page is shown smaller than it was scanned, so its dots have mostly melted into greys.
    maybe(options.photometricOnly ? 0.75 : 0.25, "soften", (source) => softenByScale(source, random.range(0.6, 0.95)));
  } else if (profile === "photo") {
    bend(0.7);
    apply("shade", (source) => shade(source, random, random.range(0.1, 0.55) * strength));
    maybe(0.5, "motion", (source) => (softness < 0.9 ? source : motionBlur(source, 3, random.chance(0.5))));
    maybe(0.5, "blur", blur);
    apply("tint", (source) =>
      shiftColours(
        source,
        [random.range(-25, 20), random.range(-25, 15), random.range(-35, 15)].map((shift) => shift * strength) as [number, number, number],
      ),
    );
    maybe(0.6, "noise", noise);
    maybe(0.6, "jpeg", compress);
  } else if (profile === "ground") {
    maybe(0.5, "watermark", (source) => watermark(source, random, random.range(15, 70) * strength));
    maybe(0.4, "grain", (source) => paperGrain(source, random, random.pick([3, 8, 30]), random.range(15, 60) * strength));
    maybe(0.3, "lines", (source) => scanLines(source, random, random.int(2, 9), random.range(8, 40) * strength));
    maybe(0.25, "inverse", inverted);
    maybe(0.3, "jpeg", compress);
  }
  return { image, characters, applied };
}
