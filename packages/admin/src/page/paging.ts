import { href, html, type Content, type Markup } from './html.ts';

/** Number of rows on a page. */
export const PAGE_SIZE = 50;

/** One page of a list: its rows and its position. */
export interface PagedRows<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
  /** From 1. */
  readonly page: number;
  readonly pages: number;
}

/** Returns the rows of the page that the query asks for; the nearest one if it does not exist. */
export function pagedRows<Row>(all: readonly Row[], parameters: URLSearchParams): PagedRows<Row> {
  const pages = Math.max(1, Math.ceil(all.length / PAGE_SIZE));
  const asked = Number(parameters.get('page') ?? 1);
  const page = Math.min(pages, Math.max(1, Number.isInteger(asked) ? asked : 1));
  return { rows: all.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE), total: all.length, page, pages };
}

/** A field that filters a list. */
export interface FilterField {
  readonly name: string;
  readonly label: string;
  /** The values to choose from, besides "any"; if missing, it is a text field. */
  readonly values?: readonly string[];
}

/** Renders the form of a list's filters. */
export function filterForm(path: string, fields: readonly FilterField[], parameters: URLSearchParams): Markup {
  const isFiltered = fields.some(({ name }) => parameters.get(name));
  return html`<form class="filters" action="${path}" role="search" aria-label="Filter">
${fields.map((field) => fieldOf(field, parameters.get(field.name) ?? ''))}
<button>Filter</button>${isFiltered && html` <a href="${path}">Show all</a>`}
</form>`;
}

function fieldOf({ name, label, values }: FilterField, value: string): Markup {
  if (!values) return html`<label>${label} <input name="${name}" value="${value}" type="search"></label>\n`;
  const option = (each: string): Markup =>
    html`<option value="${each}"${each === value && html` selected`}>${each || 'any'}</option>`;
  return html`<label>${label} <select name="${name}">${['', ...values].map(option)}</select></label>\n`;
}

/** Renders the position in a list, with links to the previous and the next page. */
export function pager(path: string, paged: PagedRows<unknown>, parameters: URLSearchParams): Markup {
  const { page, pages, total } = paged;
  const from = total === 0 ? 0 : (page - 1) * PAGE_SIZE + 1;
  const shown = html`<p>${from}–${from === 0 ? 0 : from + paged.rows.length - 1} of ${total.toLocaleString('en')}</p>`;
  if (pages === 1) return html`<div class="pager">${shown}</div>`;
  const query = Object.fromEntries(parameters);
  const link = (to: number, text: string): Content =>
    to < 1 || to > pages || to === page
      ? html`<span aria-disabled="true">${text}</span>`
      : html`<a href="${href(path, { ...query, page: to })}">${text}</a>`;
  return html`<nav class="pager" aria-label="Pages">${shown} ${link(1, 'First')} ${link(page - 1, 'Previous')}
<span>page ${page} of ${pages}</span> ${link(page + 1, 'Next')} ${link(pages, 'Last')}</nav>`;
}

/** Returns a case-insensitive predicate for lower-case texts that contain every word of a query. Texts are created only if there is a query. */
export function wordsIn(query: string | null): (textOf: () => string) => boolean {
  const words = (query ?? '').toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return () => true;
  return (textOf) => {
    const text = textOf();
    return words.every((word) => text.includes(word));
  };
}
