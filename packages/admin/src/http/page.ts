import { escapeHtml } from '@edge-gateway/core';

const STYLE =
  ':root{color-scheme:light dark}body{font-family:sans-serif;margin:2em;overflow-wrap:break-word}' +
  'table{display:block;overflow-x:auto}td,th{padding:.2em 1em .2em 0;text-align:left}' +
  'label{display:inline-flex;align-items:baseline;gap:.3em;white-space:nowrap;margin-right:.5em;max-width:100%}' +
  'time{white-space:nowrap}' +
  '@media(max-width:40em){body{margin:1em}td,th{padding-right:.6em}input{min-width:0;max-width:100%}' +
  'table:has(th){font-size:.85em}table:has(th) td{overflow-wrap:anywhere}' +
  'td:has(form),td:has(form)+td{display:block}td:has(form)+td{padding-bottom:1em}}';

/** A small page without scripts. `title` is text, `body` is HTML. */
export function page(title: string, body: string): string {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title><style>${STYLE}</style>`;
  return `<!doctype html>\n<html lang="en"><head>${head}</head>\n<body><h1>${escapeHtml(title)}</h1>\n${body}\n</body></html>\n`;
}
