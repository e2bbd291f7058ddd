import type { TranslationRecord } from '../../control/control-options.ts';
import { millisecondsText } from '../figures.ts';
import { html, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { PATHS } from '../paths.ts';
import type { StatusSources } from '../sources.ts';
import { ageOf, tableOf } from '../table.ts';

/** The last translations. */
export function translationsPage(sources: StatusSources): PageBody {
  const records = sources.translations?.() ?? [];
  return {
    path: PATHS.translations,
    heading: 'Translations',
    content: html`<p class="hint">The latest translations of the configuration, newest first.</p>
<div id="translations" data-live="change">${translationTable(records, sources.now())}</div>`,
  };
}

/** Renders translations as a table. */
export function translationTable(records: readonly TranslationRecord[], now: number): Markup {
  const number = (name: string) => ({ name, isNumber: true as const });
  return tableOf({
    caption: 'Translations',
    hidesCaption: true,
    columns: [number('Revision'), 'When', ...['Took', 'Resources', 'Problems'].map(number)],
    empty: 'No translations yet.',
    rows: records.map(({ revision, at, durationMs, resources, problems }) => [
      revision,
      ageOf(at, now),
      millisecondsText(durationMs),
      resources.toLocaleString('en'),
      problems,
    ]),
  });
}
