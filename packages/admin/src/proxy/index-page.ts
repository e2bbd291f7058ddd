import { byPath, type Endpoint, type Parameter } from '../http/endpoint.ts';
import { html, type Content, type Markup } from '../page/html.ts';
import type { Framed, PageBody } from '../page/layout.ts';
import { PATHS } from '../page/paths.ts';
import { tableOf } from '../page/table.ts';

/** `/`: a page with a form for each endpoint, `first` at the top; forms that interrupt traffic are separate and must be confirmed. */
export function indexPage(endpoints: readonly Endpoint[], first: Endpoint, framed: Framed): Endpoint {
  const sorted = [first, ...byPath(endpoints.filter((endpoint) => endpoint !== first))];
  const safe = sorted.filter(({ disruptive }) => !disruptive);
  const disruptive = sorted.filter((endpoint) => endpoint.disruptive);
  const page: PageBody = {
    path: PATHS.commands,
    heading: 'Commands',
    content: html`${tableOfCommands('Commands', safe)}
<h2>Disruptive</h2>
<p class="hint">These interrupt traffic or reset counters.</p>
${tableOfCommands('Disruptive commands', disruptive)}`,
  };
  return { paths: [PATHS.commands], help: 'home page', respond: (_parameters, req) => framed(req, page) };
}

function tableOfCommands(caption: string, endpoints: readonly Endpoint[]): Markup {
  return tableOf({
    caption,
    hidesCaption: true,
    columns: ['Command', { name: 'Description', isWide: true }],
    empty: 'No commands.',
    rows: endpoints.map((endpoint) => [formOf(endpoint), endpoint.help]),
  });
}

/** Browsers send the form only after the box is checked. The box is unnamed, so it is not sent as a parameter. */
const CONFIRMATION = html` <label><input type="checkbox" required> I am sure</label>`;

function formOf({ paths, changes, disruptive, parameters = [] }: Endpoint): Markup {
  const method = changes?.(new URLSearchParams('filled=in')) ? 'post' : 'get';
  const path = paths[0].slice(1);
  return html`<form class="command" action="${path}" method="${method}"><button>${path}</button>${parameters.map(inputOf)}${disruptive && CONFIRMATION}</form>`;
}

function inputOf({ name, help, values, flag }: Parameter): Content {
  if (flag) return html` <label>${name} <input type="checkbox" value="on" name="${name}" title="${help}"></label>`;
  if (!values) return html` <label>${name} <input name="${name}" title="${help}"></label>`;
  const options = values.map((value) => html`<option>${value}</option>`);
  return html` <label>${name} <select name="${name}" title="${help}"><option value="">default</option>${options}</select></label>`;
}
