import { escapeHtml } from '@edge-gateway/core';

const STYLE = 'body{font-family:sans-serif;margin:2em}td,th{padding:.2em 1em .2em 0;text-align:left}';

/** A small page without scripts. `title` is text, `body` is HTML. */
export function page(title: string, body: string): string {
  const head = `<meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style>`;
  return `<!doctype html>\n<html lang="en"><head>${head}</head>\n<body><h1>${escapeHtml(title)}</h1>\n${body}\n</body></html>\n`;
}
