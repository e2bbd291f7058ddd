const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes text for HTML, also for attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => ENTITIES[char]!);
}

/** A whole page; `body` is HTML already. */
export function htmlPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark; --text: #1c2733; --line: #d5dbe1; --error: #a4211c; --accent: #1f5fbf }
@media (prefers-color-scheme: dark) { :root { --text: #e6eaee; --line: #3a444e; --error: #ff9d97; --accent: #82b1ff } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 48rem; margin: 3rem auto; padding: 0 1rem; color: var(--text); overflow-wrap: anywhere }
a { color: var(--accent) }
table { border-collapse: collapse; width: 100%; table-layout: fixed }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid var(--line) }
th { width: 35% }
td { font-family: ui-monospace, monospace; font-size: 14px }
pre { white-space: pre-wrap }
input { display: block; width: 18rem; max-width: 100%; padding: .4rem; margin: .2rem 0 .8rem; font: inherit }
button { padding: .4rem 1.2rem; font: inherit }
.error { color: var(--error) }
@media (max-width: 30rem) { tr:has(> th + td) > * { display: block; width: auto; padding: .2rem 0 } th { border: 0 } }
</style>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
${body}
</body>
</html>
`;
}

/** Headers of every page: no script, no frame, no cache. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
} as const;
