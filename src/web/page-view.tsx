/** A page of the document with its regions drawn on it; each is a button that chooses the region. */

import { Picture } from "./picture.tsx";
import type { PageReading } from "./reading.ts";

export interface PageViewProps {
  readonly page: PageReading;
  readonly pageCount: number;
  /** Place of the page among those that are there. */
  readonly place: number;
  readonly places: number;
  readonly selected: number | null;
  onPlace(place: number): void;
  onSelect(region: number): void;
}

const percent = (thousandths: number): string => `${thousandths / 10}%`;

export function PageView({ page, pageCount, place, places, selected, onPlace, onSelect }: PageViewProps) {
  const regions = page.regions ?? [];
  return (
    <section class="page-view" aria-label="Page">
      {pageCount > 1 && (
        <nav class="pager" aria-label="Pages">
          <button type="button" disabled={place === 0} onClick={() => onPlace(place - 1)} aria-label="Previous page">
            ‹
          </button>
          <span>
            Page {page.index + 1} of {pageCount}
          </span>
          <button type="button" disabled={place >= places - 1} onClick={() => onPlace(place + 1)} aria-label="Next page">
            ›
          </button>
        </nav>
      )}
      <div class="sheet" style={{ "--aspect": page.image.width / page.image.height }}>
        <Picture image={page.image} label={`Page ${page.index + 1} as it was given`} />
        {regions.map(({ region, results }, i) => {
          const [left, top, right, bottom] = region.box;
          const state = results.length > 0 || page.parsed ? "read" : "unread";
          return (
            <button
              key={`${page.index}.${i}`}
              type="button"
              class={`region ${state}`}
              style={{ left: percent(left), top: percent(top), width: percent(right - left), height: percent(bottom - top) }}
              aria-pressed={selected === i}
              aria-label={`Region ${i + 1}, ${region.class.replaceAll("_", " ")}`}
              title={`${i + 1} · ${region.class.replaceAll("_", " ")}`}
              onClick={() => onSelect(i)}
            >
              <span class="region-number" aria-hidden="true">
                {i + 1}
              </span>
            </button>
          );
        })}
      </div>
    </section>
  );
}
