/**
 * One decode at one moment: its positions line by line, its figures, and what competed at the position that is looked at. Positions are a
 * list to walk through with the arrow keys.
 */
import { useMemo, useState } from "preact/hooks";
import { type Cell, cellsAt, figuresOf, grade, shownText, type Trace, widthsOf } from "./trace.ts";

/** A way of decoding, and what it did. */
export interface Run {
  readonly name: string;
  readonly traces: readonly Trace[];
  /** Of the whole page. */
  readonly milliseconds: number;
}

interface Place {
  readonly line: number;
  readonly position: number;
}

const percent = (share: number): string => (share > 0 && share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(share < 0.9995 ? 1 : 0)} %`);

const named = (text: string): string => (shownText(text).trim() === "" ? "space" : shownText(text));

function described({ state, text, confidence, step, beyond }: Cell): string {
  if (state === "mask") return "masked";
  const how = confidence === null ? "" : `, ${percent(confidence)}`;
  const when = state === "candidate" ? ", not committed" : state === "new" ? ", committed now" : `, committed in step ${step}`;
  return `${named(text!)}${how}${when}${beyond ? ", behind the end" : ""}`;
}

export function Pane({ run: { name, traces, milliseconds }, step }: { readonly run: Run; readonly step: number }) {
  const [place, setPlace] = useState<Place>({ line: 0, position: 0 });
  const lines = useMemo(() => traces.map((trace) => cellsAt(trace, step)), [traces, step]);
  const widths = useMemo(() => traces.map(widthsOf), [traces]);
  const figures = useMemo(() => figuresOf(traces), [traces]);
  const id = name.replace(/\W+/g, "-");
  const idOf = ({ line, position }: Place): string => `${id}-${line}-${position}`;
  const looked = lines[place.line]?.[place.position] ?? null;

  const move = (line: number, position: number): void => {
    const row = Math.max(0, Math.min(lines.length - 1, line));
    setPlace({ line: row, position: Math.max(0, Math.min((lines[row]?.length ?? 1) - 1, position)) });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const { line, position } = place;
    if (event.key === "ArrowRight") move(line, position + 1);
    else if (event.key === "ArrowLeft") move(line, position - 1);
    else if (event.key === "ArrowDown") move(line + 1, position);
    else if (event.key === "ArrowUp") move(line - 1, position);
    else if (event.key === "Home") move(line, 0);
    else if (event.key === "End") move(line, Number.POSITIVE_INFINITY);
    else return;
    event.preventDefault();
  };

  return (
    <section class="pane" aria-label={name}>
      <header class="pane-head">
        <h3>{name}</h3>
        <ul class="figures">
          <li>
            <b>{figures.steps}</b> steps
          </li>
          <li>
            <b>{figures.forwards}</b> passes
          </li>
          <li>
            <b>{figures.tokensPerForward.toFixed(1)}</b> tokens per pass
          </li>
          <li title="The whole page, waiting included; the first page also makes the model ready">
            <b>{(milliseconds / 1000).toFixed(1)}</b> s for the page
          </li>
        </ul>
      </header>
      <div
        class="cells"
        role="listbox"
        tabIndex={0}
        aria-label={`Positions, ${name}`}
        aria-activedescendant={looked ? idOf(place) : undefined}
        onKeyDown={onKeyDown}
      >
        {lines.map((cells, line) => (
          <div key={line} class="line" role="group" aria-label={`Line ${line + 1}`}>
            {cells.map((cell) => {
              const here = { line, position: cell.position };
              const chosen = place.line === line && place.position === cell.position;
              const shade = cell.confidence === null ? "" : ` grade-${grade(cell.confidence)}`;
              return (
                // biome-ignore lint/a11y/useKeyWithClickEvents: the list has the keys
                // biome-ignore lint/a11y/useFocusableInteractive: the list has the focus
                <span
                  key={cell.position}
                  id={idOf(here)}
                  role="option"
                  aria-selected={chosen}
                  aria-label={described(cell)}
                  class={`cell ${cell.state}${shade}${cell.beyond ? " beyond" : ""}`}
                  style={{ "--width": `${widths[line][cell.position]}ch` }}
                  onClick={() => setPlace(here)}
                >
                  {cell.text === null || cell.beyond ? "·" : shownText(cell.text)}
                </span>
              );
            })}
          </div>
        ))}
      </div>
      {looked && <Candidates cell={looked} />}
    </section>
  );
}

function Candidates({ cell }: { readonly cell: Cell }) {
  return (
    <div class="candidates">
      <p>
        Position {cell.position + 1}: {described(cell)}
      </p>
      {cell.candidates.length > 0 && (
        <ol>
          {cell.candidates.map(({ text, probability }, rank) => (
            <li key={rank}>
              <code>{named(text)}</code>
              <span class="share-bar" aria-hidden="true">
                <span style={{ width: `${100 * probability}%` }} />
              </span>
              <span class="share">{percent(probability)}</span>
            </li>
          ))}
        </ol>
      )}
    </div>
  );
}
