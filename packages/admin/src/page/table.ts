import { html, type Content, type Markup } from './html.ts';

/** A column: its heading, and whether it contains numbers. */
export type Column = string | { readonly name: string; readonly isNumber?: true; readonly isWide?: true };

/** A table of a page. */
export interface Table {
  /** Describes the rows. */
  readonly caption: string;
  readonly columns: readonly Column[];
  /** The first cell of each row is its heading. */
  readonly rows: readonly (readonly Content[])[];
  /** Shown instead of a table without rows. */
  readonly empty: string;
  /** True if a heading above already shows the caption. */
  readonly hidesCaption?: boolean;
}

/**
 * Renders a table that scrolls horizontally if it is too wide. Explicit roles keep it a table for screen readers where the style turns rows
 * into blocks.
 */
export function tableOf({ caption, columns, rows, empty, hidesCaption = false }: Table): Markup {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`;
  const names = columns.map((column) => (typeof column === 'string' ? { name: column } : column));
  const classOf = (i: number): string =>
    [names[i]?.isNumber && 'number', names[i]?.isWide && 'wide'].filter(Boolean).join(' ');
  const cell = (content: Content, i: number): Markup =>
    i === 0
      ? html`<th scope="row" role="rowheader" data-column="${names[i]!.name}">${content}</th>`
      : html`<td role="cell" class="${classOf(i)}" data-column="${names[i]?.name ?? ''}"><div>${content}</div></td>`;
  return html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table role="table">
<caption${hidesCaption && html` class="unseen"`}>${caption}</caption>
<thead role="rowgroup"><tr role="row">${names.map(({ name }, i) => html`<th scope="col" role="columnheader" class="${classOf(i)}">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">
${rows.map((row) => html`<tr role="row">${row.map(cell)}</tr>\n`)}</tbody>
</table></div>`;
}

/** The appearance of a state. Color is never the only indicator. */
export type Tone = 'good' | 'warning' | 'bad' | 'neutral';

/** Renders a state. */
export function badge(text: string, tone: Tone): Markup {
  return html`<span class="badge ${tone}">${text}</span>`;
}

/** Renders a point in time (milliseconds since the epoch) as its age, with the time as its tooltip. */
export function ageOf(at: number, now: number): Markup {
  const time = new Date(at).toISOString();
  return html`<time datetime="${time}" title="${time.replace('T', ' ').slice(0, 19)} UTC">${ageText(Math.max(0, now - at))} ago</time>`;
}

function ageText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}
