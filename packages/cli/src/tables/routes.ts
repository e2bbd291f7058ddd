import { dig, items, text } from '../resources/objects.ts';
import type { TableData } from '../output/table.ts';
import { actionText } from './destination.ts';
import { headersOf, matchersOf, pathOf, pathType, verbsOf } from './matchers.ts';

/** One table of `get virtualservice route`: the routes with one kind of action. */
export interface TitledTable extends TableData {
  readonly title: string;
}

interface Section {
  readonly title: string;
  /** The member of a route that makes it one of this section. */
  readonly member: string;
  readonly columns: readonly string[];
  readonly cells: (action: unknown) => readonly string[];
}

const SECTIONS: readonly Section[] = [
  {
    title: 'Route Action',
    member: 'routeAction',
    columns: ['Destination Type'],
    cells: (action) => [Object.keys((action as object) ?? {})[0] ?? ''],
  },
  {
    title: 'Redirect Action',
    member: 'redirectAction',
    columns: ['Path', 'Response Code'],
    cells: (action) => [
      text(action, 'pathRedirect') || text(action, 'prefixRewrite'),
      text(action, 'responseCode') || 'MOVED_PERMANENTLY',
    ],
  },
  {
    title: 'Direct Response Action',
    member: 'directResponseAction',
    columns: ['Body'],
    cells: (action) => [text(action, 'body').trimEnd()],
  },
  {
    title: 'Delegate Action',
    member: 'delegateAction',
    columns: ['Selector'],
    cells: (action) => [
      Object.entries((dig(action, 'selector', 'labels') as object) ?? {})
        .map(([key, value]) => `${key}=${String(value)}`)
        .join('\n'),
    ],
  },
  { title: 'GraphQL', member: 'graphqlApiRef', columns: [], cells: () => [] },
];

const COLUMNS = ['Id', 'Name', 'Matchers', 'Types', 'Verbs', 'Headers', 'Action'];

/** The tables of the routes of one virtual service; no table for an action that no route has. */
export function routeTables(spec: unknown, namespace: string): TitledTable[] {
  const routes = items(spec, 'virtualHost', 'routes');
  return SECTIONS.flatMap((section) => {
    const rows = routes.flatMap((route, index) =>
      dig(route, section.member) === undefined ? [] : [routeRow(route, index, { section, namespace })],
    );
    return rows.length > 0 ? [{ title: section.title, columns: [...COLUMNS, ...section.columns], rows }] : [];
  });
}

function routeRow(route: unknown, index: number, at: { section: Section; namespace: string }): string[] {
  const matchers = matchersOf(route);
  const each = (cell: (matcher: unknown) => string) => matchers.map(cell).join('\n');
  return [
    String(index + 1),
    text(route, 'name'),
    each(pathOf),
    each(pathType),
    each(verbsOf),
    matchers.map(headersOf).filter(Boolean).join('\n'),
    actionText(route, at.namespace),
    ...at.section.cells(dig(route, at.section.member)),
  ];
}
