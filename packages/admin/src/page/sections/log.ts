import { readableLine, type RecentLines } from '@edge-gateway/core';
import { html } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { filterForm, wordsIn } from '../paging.ts';
import { PATHS } from '../paths.ts';

/** Number of lines that the page shows. */
const SHOWN = 200;

/** The levels to choose from, as loggers write them. */
const LEVELS: Readonly<Record<string, number>> = { debug: 20, info: 30, warn: 40, error: 50 };

const FILTERS = [
  { name: 'level', label: 'Level, or above', values: Object.keys(LEVELS) },
  { name: 'q', label: 'Contains' },
];

/** The newest log lines, newest first. Loggers have removed secrets from them. */
export function logPage(recent: RecentLines, parameters: URLSearchParams): PageBody {
  const matches = wordsIn(parameters.get('q'));
  const least = LEVELS[parameters.get('level') ?? ''] ?? 0;
  const found = recent.lines().filter((line) => levelOf(line) >= least && matches(() => line.toLowerCase()));
  const lines = found.slice(-SHOWN).toReversed();
  const text = lines.map((line) => readableLine(`${line}\n`)).join('');
  return {
    path: PATHS.log,
    heading: 'Log',
    content: html`${filterForm(PATHS.log, FILTERS, parameters)}
<div id="log" data-live="tick change"><p class="hint">The newest ${lines.length.toLocaleString('en')} of ${found.length.toLocaleString('en')} lines that are kept.</p>
${lines.length === 0 ? html`<p class="empty">No line matches.</p>` : html`<pre tabindex="0" aria-label="Log">${text}</pre>`}</div>`,
  };
}

/** Lines that are not JSON, such as those cut because of their length, have every level. */
function levelOf(line: string): number {
  return Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? Infinity);
}
