/**
 * How the text of a region came about, step by step: a slider over the recording, one pane per way of decoding, all at the same number of
 * passes. What is masked, what the model sees there, what it commits, and how sure it is.
 */
import { useEffect, useMemo, useState } from "preact/hooks";
import { figuresOf } from "./trace.ts";
import { Pane, type Run } from "./trace-pane.tsx";

export interface TraceViewProps {
  readonly runs: readonly Run[];
  /** Changes with the region: the slider then stands at its end. */
  readonly about: string;
  /** Absent where there is nothing to compare with, or it is being read. */
  onCompare?(): void;
  readonly comparing: boolean;
}

/** A whole playback takes about so long, within bounds on its pace. */
const PLAYBACK_SECONDS = 8;
const SLOWEST = 3;
const FASTEST = 30;

export function TraceView({ runs, about, onCompare, comparing }: TraceViewProps) {
  const steps = Math.max(0, ...runs.map(({ traces }) => figuresOf(traces).steps));
  const [step, setStep] = useState(steps);
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    setStep(steps);
    setPlaying(false);
  }, [about, steps]);
  useEffect(() => {
    if (!playing) return;
    const pace = Math.min(FASTEST, Math.max(SLOWEST, steps / PLAYBACK_SECONDS));
    const timer = setInterval(() => setStep((now) => Math.min(steps, now + 1)), 1000 / pace);
    return () => clearInterval(timer);
  }, [playing, steps]);
  useEffect(() => {
    if (step >= steps) setPlaying(false);
  }, [step, steps]);
  const now = Math.min(step, steps);
  const toggle = (): void => {
    if (!playing && now >= steps) setStep(0);
    setPlaying(!playing);
  };
  const label = useMemo(() => `Step ${now} of ${steps}`, [now, steps]);

  return (
    <div class="trace-view">
      <div class="player" role="group" aria-label="Playback">
        <button type="button" class="play" onClick={toggle} aria-label={playing ? "Pause" : "Play"}>
          {playing ? "❚❚" : "▶"}
        </button>
        <input
          type="range"
          min={0}
          max={steps}
          value={now}
          aria-label="Step"
          aria-valuetext={label}
          onInput={(event) => {
            setPlaying(false);
            setStep(Number(event.currentTarget.value));
          }}
          onKeyDown={(event) => {
            if (event.key !== " ") return;
            event.preventDefault();
            toggle();
          }}
        />
        <span class="step-label" aria-hidden="true">
          {label}
        </span>
      </div>
      <div class={runs.length > 1 ? "panes two" : "panes"}>
        {runs.map((run) => (
          <Pane key={run.name} run={run} step={now} />
        ))}
      </div>
      {(onCompare || comparing) && (
        <p class="compare">
          <button type="button" onClick={onCompare} disabled={comparing}>
            {comparing ? "Reading token by token…" : "Compare with autoregression"}
          </button>
        </p>
      )}
      <Legend />
    </div>
  );
}

function Legend() {
  return (
    <dl class="legend">
      <div>
        <dt class="cell mask">·</dt>
        <dd>masked</dd>
      </div>
      <div>
        <dt class="cell candidate">a</dt>
        <dd>seen, not sure enough</dd>
      </div>
      <div>
        <dt class="cell new">a</dt>
        <dd>committed in this step</dd>
      </div>
      {["below 50 %", "50 to 80 %", "80 to 95 %", "95 to 99 %", "99 % and more"].map((range, i) => (
        <div key={range}>
          <dt class={`cell settled grade-${i}`}>a</dt>
          <dd>{range}</dd>
        </div>
      ))}
    </dl>
  );
}
