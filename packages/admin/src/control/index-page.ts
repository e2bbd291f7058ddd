import { escapeHtml } from '@edge-gateway/core';
import { page } from '../http/page.ts';
import type { ControlEndpoint } from './endpoint.ts';

/** `/`: links to everything there is. */
export function indexPage(endpoints: readonly ControlEndpoint[]): ControlEndpoint {
  const rows = [...endpoints]
    .sort((a, b) => (a.paths[0] < b.paths[0] ? -1 : 1))
    .map(({ paths: [path], help }) => `<tr><td><a href="${path}">${path}</a></td><td>${escapeHtml(help)}</td></tr>`);
  const body = page('Control plane', `<table>\n${rows.join('\n')}\n</table>`);
  return { paths: ['/'], help: 'this page', get: () => ({ type: 'html', body }) };
}
