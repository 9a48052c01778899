/** Text as error rates compare it: Markdown's escapes undone, every run of white space one blank. */
export const plainText = (markdown: string): string =>
  markdown
    .replace(/\\(?=[!-/:-@[-`{-~])/g, "")
    .replace(/\s+/g, " ")
    .trim();
