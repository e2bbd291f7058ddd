import { compactJson } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { page } from '../http/page.ts';
import type { ControlAdminOptions, TranslationRecord } from './control-options.ts';

/** `/zpages`: the last translations, as a page, or as JSON with `?format=json`. */
export function zpages(translations: ControlAdminOptions['translations']): Endpoint {
  return {
    paths: ['/zpages'],
    help: 'the last translations; ?format=json',
    respond: (parameters) => {
      const records = translations?.() ?? [];
      if (parameters.get('format') === 'json') return compactJson({ translations: records });
      return {
        type: 'html',
        body: page('Translations', records.length > 0 ? table(records) : '<p>No translations yet.</p>'),
      };
    },
  };
}

function table(records: readonly TranslationRecord[]): string {
  const rows = records.map(({ revision, at, durationMs, resources, problems }) => {
    const time = `<time>${new Date(at).toISOString()}</time>`;
    const cells = [revision, time, durationMs.toFixed(1), resources, problems];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const names = ['revision', 'at', 'milliseconds', 'resources', 'problems'].map((name) => `<th>${name}</th>`).join('');
  return `<table>\n<tr>${names}</tr>\n${rows.join('\n')}\n</table>`;
}
