import { escapeHtml } from '@edge-gateway/core';
import { byPath, type Endpoint, type Parameter } from '../http/endpoint.ts';
import { page } from '../http/page.ts';

/** `/`: a page with a form for each endpoint, `first` at the top; forms that interrupt traffic are separate and must be confirmed. */
export function indexPage(endpoints: readonly Endpoint[], first: Endpoint): Endpoint {
  const sorted = [first, ...byPath(endpoints.filter((endpoint) => endpoint !== first))];
  const safe = sorted.filter(({ disruptive }) => !disruptive);
  const disruptive = sorted.filter((endpoint) => endpoint.disruptive);
  const body = page(
    'Proxy admin',
    `${tableOf(safe)}\n<h2>Disruptive</h2>\n<p>These interrupt traffic or reset counters.</p>\n${tableOf(disruptive)}`,
  );
  return { paths: ['/'], help: 'home page', respond: () => ({ type: 'html', body }) };
}

function tableOf(endpoints: readonly Endpoint[]): string {
  return `<table>\n${endpoints.map(rowOf).join('\n')}\n</table>`;
}

/** Browsers send the form only after the box is checked. The box is unnamed, so it is not sent as a parameter. */
const CONFIRMATION = ' <label><input type="checkbox" required> I am sure</label>';

function rowOf({ paths, help, changes, disruptive, parameters = [] }: Endpoint): string {
  const method = changes?.(new URLSearchParams('filled=in')) ? 'post' : 'get';
  const path = escapeHtml(paths[0].slice(1));
  const inputs = parameters.map((parameter) => ` ${inputOf(parameter)}`).join('');
  const form = `<form action="${path}" method="${method}"><button>${path}</button>${inputs}${disruptive ? CONFIRMATION : ''}</form>`;
  return `<tr><td>${form}</td><td>${escapeHtml(help)}</td></tr>`;
}

function inputOf({ name, help, values, flag }: Parameter): string {
  const attributes = `name="${escapeHtml(name)}" title="${escapeHtml(help)}"`;
  if (flag) return `<label>${escapeHtml(name)} <input type="checkbox" value="on" ${attributes}></label>`;
  if (!values) return `<label>${escapeHtml(name)} <input ${attributes}></label>`;
  const options = values.map((value) => `<option>${escapeHtml(value)}</option>`).join('');
  return `<label>${escapeHtml(name)} <select ${attributes}><option value="">default</option>${options}</select></label>`;
}
