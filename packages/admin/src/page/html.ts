import { escapeHtml } from '@edge-gateway/core';

/** Markup that is sent as it is. Only {@link html} creates it. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What a template accepts: text is escaped; `undefined` and `false` are left out; lists are joined. */
export type Content = Markup | string | number | undefined | false | readonly Content[];

/**
 * Returns markup from a template. Everything that is inserted is escaped, also for a quoted attribute, unless it is markup itself.
 *
 * @example
 * const row = html`<td title="${name}">${name}</td>`;
 */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Markup {
  return new Markup(parts.reduce((text, part, i) => text + textOf(values[i - 1]) + part));
}

function textOf(content: Content): string {
  if (content === undefined || content === false) return '';
  if (content instanceof Markup) return content.text;
  if (typeof content === 'object') return content.map(textOf).join('');
  return escapeHtml(String(content));
}

/** Returns a path with a query; values that are empty are left out. */
export function href(path: string, query: Readonly<Record<string, string | number | undefined>> = {}): string {
  const written = Object.entries(query).flatMap(([name, value = '']): [string, string][] =>
    value === '' ? [] : [[name, String(value)]],
  );
  if (written.length === 0) return path;
  return `${path}?${new URLSearchParams(written)}`;
}
