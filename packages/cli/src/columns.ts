/** Characters that take two columns of a terminal: East Asian wide ones, and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/gu;
/** Characters that take none: combining marks and joiners. */
const NONE = /\p{Mn}|\p{Me}|\u200b|\u200c|\u200d/gu;
// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/;

/** How many columns a printable text takes on a terminal. */
export function columnsOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  const shown = text.replaceAll(NONE, '');
  return [...shown].length + (shown.match(WIDE)?.length ?? 0);
}

/** Fills a text up with spaces to a width in columns. */
export function padColumns(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - columnsOf(text)));
}
