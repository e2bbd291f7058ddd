import {
  formatOrigin,
  keyOf,
  KIND_NAMES,
  STATES,
  type ControlPlaneState,
  type Kind,
  type Problem,
} from '@edge-gateway/core';
import { listedObject, showObject } from '../../control/kubernetes-object.ts';
import { adminError } from '../../error-codes.ts';
import { html, type Content, type Markup } from '../html.ts';
import type { PageBody } from '../layout.ts';
import { filterForm, pagedRows, pager, wordsIn } from '../paging.ts';
import { PATHS, resourceLink } from '../paths.ts';
import { problemText, TONES, type ResourceRow } from '../resource-rows.ts';
import { badge, tableOf } from '../table.ts';

const FILTERS = [
  { name: 'q', label: 'Contains' },
  { name: 'kind', label: 'Kind', values: KIND_NAMES },
  { name: 'state', label: 'State', values: STATES },
] as const;

/** The resources with state and problems. */
export function resourcesPage(all: readonly ResourceRow[], parameters: URLSearchParams): PageBody {
  const [matches, kind, state] = [wordsIn(parameters.get('q')), parameters.get('kind'), parameters.get('state')];
  const found = all.filter(
    (row) => (!kind || row.kind === kind) && (!state || row.state === state) && matches(() => row.text),
  );
  const paged = pagedRows(found, parameters);
  return {
    path: PATHS.resources,
    heading: 'Resources',
    query: parameters.get('q') ?? '',
    content: html`${filterForm(PATHS.resources, FILTERS, parameters)}
<div id="resources" data-live="change">${resourceTable(paged.rows)}${pager(PATHS.resources, paged, parameters)}</div>`,
  };
}

/** Renders resources as a table. */
export function resourceTable(rows: readonly ResourceRow[]): Markup {
  return tableOf({
    caption: 'Resources',
    hidesCaption: true,
    columns: ['Resource', 'Kind', 'State', { name: 'Problem', isWide: true }, 'Written in'],
    empty: 'No resource matches.',
    rows: rows.map((row) => [
      resourceLink(row.key),
      row.kind,
      badge(row.state, TONES[row.state]),
      problemCell(row),
      row.origin ? html`<code>${formatOrigin(row.origin)}</code>` : 'created by the gateway',
    ]),
  });
}

function problemCell({ problems, reasons, state }: ResourceRow): Content {
  const [first] = problems;
  const text = first ? problemText(first) : state === 'Accepted' ? '' : (reasons[0] ?? '');
  const effect = EFFECTS[problems.find((each) => each.effect)?.effect ?? ''];
  const more = problems.length > 1 && html` <small>and ${problems.length - 1} more</small>`;
  return text && [html`<span class="lines">${text}</span>`, more, effect && html` <small>${effect}</small>`];
}

/** The effect of a problem on the served configuration. */
const EFFECTS: Readonly<Record<string, string>> = {
  'keeps-last-good': 'The last good version is served.',
  'lacks-routes': 'Routes are missing.',
};

/** One resource: its state, its problems, and its content without secrets. */
export function resourcePage(
  state: ControlPlaneState,
  all: readonly ResourceRow[],
  parameters: URLSearchParams,
): PageBody {
  const [kind, namespace, name] = ['kind', 'namespace', 'name'].map((each) => parameters.get(each) ?? '');
  const key = keyOf(kind as Kind, { namespace: namespace!, name: name! });
  const row = all.find((each) => each.key === key);
  if (!row) throw adminError('ERR_ADMIN_NOT_FOUND', `No resource is named ${kind} ${namespace}/${name}.`);
  const object = showObject(listedObject(state, key), state.statuses.get(key));
  const routes =
    kind === 'VirtualService' &&
    html`<p><a href="${`${PATHS.virtualService}?${new URLSearchParams({ namespace: namespace!, name: name! })}`}">Routes and policies</a></p>`;
  return {
    path: PATHS.resources,
    heading: `${kind} ${namespace}/${name}`,
    content: html`<div id="resource" data-live="change">
<dl class="facts">
<dt>State</dt><dd>${badge(row.state, TONES[row.state])}</dd>
${!row.isInUse && html`<dt>In use</dt><dd>no, it has never been valid</dd>`}
<dt>Written in</dt><dd>${row.origin ? html`<code>${formatOrigin(row.origin)}</code>` : 'created by the gateway'}</dd>
${row.reasons.map((reason) => html`<dt>Reason</dt><dd class="lines">${reason}</dd>`)}
</dl>
${routes}
${row.problems.length > 0 && html`<h2>Problems</h2>${problemTable(row.problems)}`}
<h2>Content</h2>
<p class="hint">Secret values are replaced.</p>
<pre tabindex="0" aria-label="Content">${JSON.stringify(object, undefined, 2)}</pre>
</div>`,
  };
}

/** Every problem of the configuration. */
export function problemsPage(state: ControlPlaneState | undefined, parameters: URLSearchParams): PageBody {
  const [matches, severity] = [wordsIn(parameters.get('q')), parameters.get('severity')];
  const found = (state?.issues ?? []).filter(
    (issue) => (!severity || issue.severity === severity) && matches(() => searchable(issue)),
  );
  const paged = pagedRows(found, parameters);
  const filters = [
    { name: 'q', label: 'Contains' },
    { name: 'severity', label: 'Severity', values: ['error', 'warning'] },
  ];
  return {
    path: PATHS.problems,
    heading: 'Problems',
    query: parameters.get('q') ?? '',
    content: html`${filterForm(PATHS.problems, filters, parameters)}
<div id="problems" data-live="change">${problemTable(paged.rows)}${pager(PATHS.problems, paged, parameters)}</div>`,
  };
}

/** Returns the searchable text of a problem, in lower case. */
export function searchable(problem: Problem): string {
  const { kind, namespace, name, origin } = problem;
  return [kind, `${namespace}/${name}`, formatOrigin(origin), problemText(problem)].join(' ').toLowerCase();
}

/** Renders problems as a table. */
export function problemTable(problems: readonly Problem[], empty = 'There are no problems.'): Markup {
  return tableOf({
    caption: 'Problems',
    hidesCaption: true,
    columns: ['Place', 'Severity', 'Resource', { name: 'Problem', isWide: true }],
    empty,
    rows: problems.map((problem) => [
      html`<code>${formatOrigin(problem.origin)}</code>`,
      badge(problem.severity, problem.severity === 'error' ? 'bad' : 'warning'),
      problem.kind && problem.name
        ? [
            `${problem.kind} `,
            resourceLink(keyOf(problem.kind as Kind, { namespace: problem.namespace ?? '', name: problem.name })),
          ]
        : (problem.kind ?? 'document'),
      problemText(problem),
    ]),
  });
}
