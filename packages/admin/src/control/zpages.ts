import type { Request } from 'express';
import { compactJson } from '../http/answer.ts';
import { page } from '../http/page.ts';
import type { ControlEndpointFactory } from './endpoint.ts';
import type { TranslationRecord } from './options.ts';

/** `/zpages`: the last translations, as a page, or as JSON with `?format=json`. */
export const zpages: ControlEndpointFactory = ({ translations }) => ({
  paths: ['/zpages'],
  help: 'the last translations; ?format=json',
  get: (req) => {
    const records = translations?.() ?? [];
    if (wantsJson(req)) return compactJson({ translations: records });
    return { type: 'html', body: page('Translations', records.length > 0 ? table(records) : '<p>None so far.</p>') };
  },
});

function wantsJson(req: Request): boolean {
  return new URLSearchParams(req.url.split('?', 2)[1] ?? '').get('format') === 'json';
}

function table(records: readonly TranslationRecord[]): string {
  const rows = records.map(({ revision, at, durationMs, resources, problems }) => {
    const cells = [revision, timeOf(at), durationMs.toFixed(1), resources, problems];
    return `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`;
  });
  const names = ['revision', 'at', 'milliseconds', 'resources', 'problems'].map((name) => `<th>${name}</th>`).join('');
  return `<table>\n<tr>${names}</tr>\n${rows.join('\n')}\n</table>`;
}

function timeOf(at: number): string {
  return `<time>${new Date(at).toISOString()}</time>`;
}
