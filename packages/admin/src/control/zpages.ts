import { compactJson } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { html, type Markup } from '../page/html.ts';
import { plainPage } from '../page/layout.ts';
import { tableOf } from '../page/table.ts';
import type { ControlAdminOptions, TranslationRecord } from './control-options.ts';

/** `/zpages`: the last translations, as a page, or as JSON with `?format=json`. */
export function zpages(translations: ControlAdminOptions['translations']): Endpoint {
  return {
    paths: ['/zpages'],
    help: 'the last translations; ?format=json',
    respond: (parameters) => {
      const records = translations?.() ?? [];
      if (parameters.get('format') === 'json') return compactJson({ translations: records });
      return plainPage('Translations', tableOfRecords(records));
    },
  };
}

function tableOfRecords(records: readonly TranslationRecord[]): Markup {
  return tableOf({
    caption: 'Translations',
    hidesCaption: true,
    columns: ['Revision', 'Time', number('Milliseconds'), number('Resources'), number('Problems')],
    empty: 'No translations yet.',
    rows: records.map(({ revision, at, durationMs, resources, problems }) => [
      revision,
      html`<time>${new Date(at).toISOString()}</time>`,
      durationMs.toFixed(1),
      resources,
      problems,
    ]),
  });
}

const number = (name: string) => ({ name, isNumber: true as const });
