/** Tabs after the pattern of the ARIA practices: arrow keys move, the panel follows. */
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

export interface Tab {
  readonly id: string;
  readonly title: string;
  content(): ComponentChildren;
}

export interface TabsProps {
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  /** Whenever this changes, and is not 0, the tabs are brought into sight where they stand below the fold, as on narrow screens. */
  readonly call: number;
  onChoose(id: string): void;
}

export function Tabs({ label, tabs, chosen, call, onChoose }: TabsProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (call > 0 && list.current!.getBoundingClientRect().top > innerHeight / 2) list.current!.scrollIntoView();
  }, [call]);
  const place = tabs.findIndex((tab) => tab.id === chosen);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = tabs[(place + step + tabs.length) % tabs.length];
    onChoose(next.id);
    list.current!.querySelector<HTMLElement>(`[data-tab="${next.id}"]`)!.focus();
    event.preventDefault();
  };
  return (
    <section class="tabs" aria-label={label}>
      <div ref={list} class="tab-list" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${id}-${tab.id}`}
            data-tab={tab.id}
            aria-selected={tab.id === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.title}
          </button>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${chosen}`}>
        {tabs[place].content()}
      </div>
    </section>
  );
}
