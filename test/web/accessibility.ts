/**
 * Faults that keep people from using a page by keyboard, screen reader or with weak eyes: controls without names, broken references between
 * elements, focus out of order, text too faint, or too wide for the screen. Written to run inside the page; the criteria are WCAG 2.2's numbers.
 */

/** Faults in words, none if all is well. */
export function accessibilityFaults(): string[] {
  const faults: string[] = [];
  const shown = (element: Element): string => element.outerHTML.replace(/\s+/g, " ").slice(0, 100);
  const visible = (element: Element): boolean => element.checkVisibility({ visibilityProperty: true });

  const nameOf = (element: Element): string => {
    const labelledBy = (element.getAttribute("aria-labelledby") ?? "").split(/\s+/).filter((id) => id !== "");
    if (labelledBy.length > 0) return labelledBy.map((id) => document.getElementById(id)?.textContent ?? "").join(" ");
    const labels = "labels" in element ? [...((element.labels as NodeListOf<HTMLLabelElement> | null) ?? [])] : [];
    return (
      element.getAttribute("aria-label") ??
      (labels.map(({ textContent }) => textContent).join(" ") || element.textContent || "")
    ).trim();
  };

  // 4.1.2 name, role, value
  for (const element of document.querySelectorAll("button, input, select, textarea, a[href], [role], [tabindex]")) {
    if (["status", "alert", "group", "tabpanel"].includes(element.getAttribute("role") ?? "")) continue;
    if (nameOf(element) === "") faults.push(`no name: ${shown(element)}`);
  }
  // 1.3.1 relations
  for (const attribute of ["aria-labelledby", "aria-controls", "aria-activedescendant", "for"])
    for (const element of document.querySelectorAll(`[${attribute}]`))
      for (const id of element.getAttribute(attribute)!.split(/\s+/))
        if (!document.getElementById(id)) faults.push(`${attribute} names nothing: ${shown(element)}`);
  const ids = [...document.querySelectorAll("[id]")].map(({ id }) => id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) faults.push(`id used twice: ${id}`);
  for (const option of document.querySelectorAll('[role="option"]'))
    if (!option.closest('[role="listbox"]')) faults.push(`option outside a list: ${shown(option)}`);
  // 2.4.3 focus order
  for (const element of document.querySelectorAll<HTMLElement>("[tabindex]"))
    if (element.tabIndex > 0) faults.push(`focus out of order: ${shown(element)}`);
  // 1.3.1 headings, 2.4.2 title, 3.1.1 language
  const levels = [...document.querySelectorAll("h1, h2, h3, h4")].map(({ tagName }) => Number(tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1)
    faults.push(`one h1 expected, got ${levels.filter((level) => level === 1).length}`);
  if (!document.documentElement.lang) faults.push("no language");
  if (document.title === "") faults.push("no title");
  if (!document.querySelector("main")) faults.push("no main landmark");

  // 1.4.10 reflow
  if (document.documentElement.scrollWidth > innerWidth) faults.push(`scrolls sideways: ${document.documentElement.scrollWidth}`);

  // 1.4.3 contrast
  type Colour = readonly [number, number, number, number];
  const colourOf = (css: string): Colour => {
    const [red = 0, green = 0, blue = 0, alpha = 1] = (css.match(/[\d.]+/g) ?? []).map(Number);
    return [red, green, blue, alpha];
  };
  const over = ([r, g, b, a]: Colour, [r0, g0, b0]: Colour): Colour => [
    r * a + r0 * (1 - a),
    g * a + g0 * (1 - a),
    b * a + b0 * (1 - a),
    1,
  ];
  const behind = (element: Element): Colour => {
    const above = colourOf(getComputedStyle(element).backgroundColor);
    if (above[3] >= 1) return above;
    const parent = element.parentElement;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return over(above, parent ? behind(parent) : dark ? [18, 18, 18, 1] : [255, 255, 255, 1]);
  };
  const luminance = ([red, green, blue]: Colour): number => {
    const [r, g, b] = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement!;
    if (node.textContent!.trim() === "" || !visible(element) || element.closest(".hidden, noscript, option")) continue;
    // Controls that cannot be used need no contrast.
    if (element.closest(":disabled")) continue;
    const style = getComputedStyle(element);
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ground = behind(element);
    const [a, b] = [luminance(over(colourOf(style.color), ground)), luminance(ground)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < (large ? 3 : 4.5)) faults.push(`contrast ${contrast.toFixed(2)}: ${shown(element)}`);
  }
  return faults;
}
