/**
 * The cells of a picture that is known to be of one table, for weights that read a line at a time: those its rules part, or else what white
 * parts into columns and rows. Refuses to judge whether it is a table at all.
 */
import { withEvenLight } from "../even-light.ts";
import { inkMask } from "../ink-mask.ts";
import { type PixelBox, padWithWhite, type RgbImage } from "../rgb-image.ts";
import { tableWithin } from "./level-tables.ts";
import { type PrintLine, printLines } from "./lines.ts";
import { around, boxOf, type Extent, pageMarks } from "./marks.ts";
import { ruledTables } from "./ruled-tables.ts";

export interface TableCellBox {
  readonly row: number;
  readonly col: number;
  readonly rowspan: number;
  readonly colspan: number;
  /** Pixels in which something is printed, null in an empty cell. */
  readonly print: PixelBox | null;
}

/** White put around the picture: a frame at its very edge is no dirt of a scan. */
const BORDER = 8;
/** Paper kept around print, in letter heights. */
const MARGIN = 0.15;
/** A grid of rules is the table if it holds this share of all lines. */
const MOST_LINES = 0.7;

/** The cells, row by row, covering the grid; null where no more than one cell can be told apart. */
export function tableCells(picture: RgbImage): TableCellBox[] | null {
  const image = padWithWhite(picture, { left: BORDER, top: BORDER, right: BORDER, bottom: BORDER });
  const mask = inkMask(withEvenLight(image));
  const marks = pageMarks(mask);
  const lines = printLines(mask, marks);
  if (lines.length === 0) return null;
  const ruled = ruledTables(mask, marks, lines).tables.find(
    ({ cells }) => cells.reduce((sum, cell) => sum + cell.lines.length, 0) >= MOST_LINES * lines.length,
  );
  const cells = (ruled ?? tableWithin(around([...lines, ...marks.rules]), marks))?.cells;
  if (!cells || cells.length < 2) return null;
  const margin = Math.max(2, Math.round(MARGIN * marks.letterHeight));
  return cells.map(({ lines: printed, ...place }) => ({
    ...place,
    print: printed.length > 0 ? boxWithin(printed, picture, margin) : null,
  }));
}

function boxWithin(lines: readonly PrintLine[], { width, height }: RgbImage, margin: number): PixelBox {
  const { left, top, right, bottom }: Extent = around(lines);
  return boxOf({
    left: Math.max(0, left - BORDER - margin),
    top: Math.max(0, top - BORDER - margin),
    right: Math.min(width, right - BORDER + margin),
    bottom: Math.min(height, bottom - BORDER + margin),
  });
}
