import { escapeHtml, page } from '../page.ts';
import type { Endpoint, Parameter } from './endpoint.ts';

/** `/`: a page with a form for each endpoint. */
export function indexPage(endpoints: readonly Endpoint[]): Endpoint {
  const sorted = [...endpoints].sort((a, b) => (a.paths[0] < b.paths[0] ? -1 : 1));
  const body = page('Proxy admin', `<table>\n${sorted.map(rowOf).join('\n')}\n</table>`);
  return { paths: ['/'], help: 'home page', answer: () => ({ type: 'html', body }) };
}

function rowOf({ paths, help, changes, parameters = [] }: Endpoint): string {
  const method = changes?.(new URLSearchParams('filled=in')) ? 'post' : 'get';
  const path = escapeHtml(paths[0].slice(1));
  const inputs = parameters.map((parameter) => ` ${inputOf(parameter)}`).join('');
  const form = `<form action="${path}" method="${method}"><button>${path}</button>${inputs}</form>`;
  return `<tr><td>${form}</td><td>${escapeHtml(help)}</td></tr>`;
}

function inputOf({ name, help, values, flag }: Parameter): string {
  const attributes = `name="${escapeHtml(name)}" title="${escapeHtml(help)}"`;
  if (flag) return `<label>${escapeHtml(name)} <input type="checkbox" value="on" ${attributes}></label>`;
  if (!values) return `<label>${escapeHtml(name)} <input ${attributes}></label>`;
  const options = values.map((value) => `<option>${escapeHtml(value)}</option>`).join('');
  return `<label>${escapeHtml(name)} <select ${attributes}><option></option>${options}</select></label>`;
}
