/** What was read on a page: as a document, with formulas and tables set; while it is read, the text as far as it has appeared. */
import { useMemo } from "preact/hooks";
import { type AssemblyOptions, assemble, blockHtml } from "../browser.ts";
import { parsedPages } from "./downloads.ts";
import { addressOf } from "./picture.tsx";
import type { Appearing, PageReading, Reading } from "./reading.ts";

/** Passages less sure than this are marked where that is wished. */
const DOUBTFUL = 0.8;

/** Positions of a line that is about to be read. */
const FIRST_MASKS = 24;

export interface AnswerViewProps {
  readonly reading: Reading;
  readonly page: PageReading;
  readonly assembly: AssemblyOptions;
  readonly selected: number | null;
  readonly markDoubtful: boolean;
}

export function AnswerView({ reading, page, assembly, selected, markDoubtful }: AnswerViewProps) {
  const options = useMemo(() => ({ ...assembly, ...(markDoubtful ? { markBelow: DOUBTFUL } : {}) }), [assembly, markDoubtful]);
  const pictures = useMemo(() => new Map([...page.crops].map(([path, crop]) => [path, addressOf(crop)])), [page.crops]);
  const blocks = useMemo(
    () => assemble(parsedPages(reading), options).filter(({ sources }) => sources.some((source) => source.page === page.index)),
    [reading, page.index, options],
  );
  if (!page.parsed) return <LiveText page={page} selected={selected} />;
  if (blocks.length === 0) return <p class="hint">Nothing was read on this page.</p>;
  return (
    <article class="answer">
      {blocks.map((block, i) => {
        const chosen = block.sources.some((source) => source.page === page.index && source.region === selected);
        // The library escapes all text and writes no address but these pictures.
        const html = { __html: blockHtml(block, { images: (path) => pictures.get(path) }) };
        return <div key={i} class={chosen ? "block chosen" : "block"} dangerouslySetInnerHTML={html} />;
      })}
    </article>
  );
}

function LiveText({ page, selected }: { readonly page: PageReading; readonly selected: number | null }) {
  if (page.regions === null) return <p class="hint">Looking for regions…</p>;
  return (
    <article class="answer live" aria-busy="true">
      {page.regions.map(({ appearing, results }, i) => (
        <div key={i} class={selected === i ? "block chosen" : "block"}>
          {results.length > 0 ? (
            <p class="plain">{results.map(({ text }) => text.replace(/<\|[^|]*\|>/g, "")).join("\n")}</p>
          ) : (
            (appearing.length > 0 ? appearing : [{ texts: [], steps: 0 }]).map((line, j) => <LiveLine key={j} line={line} />)
          )}
        </div>
      ))}
    </article>
  );
}

function LiveLine({ line: { texts } }: { readonly line: Appearing }) {
  const length = Math.max(texts.length, FIRST_MASKS);
  return (
    <p class="plain">
      {Array.from({ length }, (_, i) => (texts[i] === undefined ? <span key={i} class="grain" /> : texts[i].replace(/<\|[^|]*\|>/g, "")))}
    </p>
  );
}
