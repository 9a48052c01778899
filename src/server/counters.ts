/** Counters of a server in the text form that Prometheus collects (exposition format 0.0.4). Knows names and numbers, not their meaning. */

type Labels = Readonly<Record<string, string | number>>;

/** Upper bounds of the time buckets in seconds: from a cheap answer to a long document. */
const BUCKETS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];

const escaped = (value: string | number): string => String(value).replace(/\\/g, "\\\\").replace(/"/g, '\\"').replace(/\n/g, "\\n");

const written = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
};

interface Family {
  readonly kind: "counter" | "histogram";
  readonly help: string;
  readonly series: Map<string, { readonly labels: Labels; value: number; readonly buckets: number[] }>;
}

export class Counters {
  readonly #families = new Map<string, Family>();

  /** Adds `amount` to a counter. */
  add(name: string, help: string, labels: Labels = {}, amount = 1): void {
    this.#series(name, help, "counter", labels).value += amount;
  }

  /** Counts a duration. */
  observe(name: string, help: string, labels: Labels, seconds: number): void {
    const series = this.#series(name, help, "histogram", labels);
    series.value += seconds;
    const place = BUCKETS.findIndex((bound) => seconds <= bound);
    series.buckets[place < 0 ? BUCKETS.length : place]++;
  }

  /** Everything, `gauges` of this moment included: name → [what it is, value]. */
  text(gauges: Readonly<Record<string, readonly [help: string, value: number]>>): string {
    const lines: string[] = [];
    for (const [name, { kind, help, series }] of this.#families) {
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
      for (const { labels, value, buckets } of series.values()) {
        if (kind === "counter") {
          lines.push(`${name}${written(labels)} ${value}`);
          continue;
        }
        let count = 0;
        [...BUCKETS, "+Inf"].forEach((bound, i) => {
          count += buckets[i];
          lines.push(`${name}_bucket${written({ ...labels, le: bound })} ${count}`);
        });
        lines.push(`${name}_sum${written(labels)} ${value}`, `${name}_count${written(labels)} ${count}`);
      }
    }
    for (const [name, [help, value]] of Object.entries(gauges))
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, `${name} ${value}`);
    return `${lines.join("\n")}\n`;
  }

  #series(name: string, help: string, kind: Family["kind"], labels: Labels) {
    const family = this.#families.get(name) ?? { kind, help, series: new Map() };
    this.#families.set(name, family);
    const key = written(labels);
    const series = family.series.get(key) ?? { labels, value: 0, buckets: Array<number>(BUCKETS.length + 1).fill(0) };
    family.series.set(key, series);
    return series;
  }
}
