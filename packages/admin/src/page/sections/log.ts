import { readableLine, type RecentLines } from '@edge-gateway/core';
import { html } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { filterForm, wordsIn } from '../paging.ts';
import { PATHS } from '../paths.ts';

/** Number of lines that the page shows. */
const SHOWN = 200;

/** The newest log lines, newest first. Loggers have removed secrets from them. */
export function logPage(recent: RecentLines, parameters: URLSearchParams): PageBody {
  const matches = wordsIn(parameters.get('q'));
  const found = recent.lines().filter((line) => matches(() => line.toLowerCase()));
  const lines = found.slice(-SHOWN).toReversed();
  const text = lines.map((line) => readableLine(`${line}\n`)).join('');
  return {
    path: PATHS.log,
    heading: 'Log',
    content: html`${filterForm(PATHS.log, [{ name: 'q', label: 'Contains' }], parameters)}
<div id="log" data-live="tick change"><p class="hint">The newest ${lines.length.toLocaleString('en')} of ${found.length.toLocaleString('en')} lines that are kept.</p>
${lines.length === 0 ? html`<p class="empty">No line matches.</p>` : html`<pre tabindex="0" aria-label="Log">${text}</pre>`}</div>`,
  };
}
