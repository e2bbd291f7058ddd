import { formRows, type FormRow } from '../../packages/core/src/envoy/forms/form.ts';
import {
  HTTP_LISTENER_FORMS,
  LISTENER_FORMS,
  ROUTE_CONFIG_FORMS,
  TLS_FORMS,
} from '../../packages/core/src/envoy/forms/listener-forms.ts';
import {
  DESTINATION_FORMS,
  MATCHER_FORMS,
  REDIRECT_FORMS,
  ROUTE_FORMS,
  VIRTUAL_HOST_FORMS,
} from '../../packages/core/src/envoy/forms/route-forms.ts';
import { UPSTREAM_FORMS } from '../../packages/core/src/envoy/forms/upstream-forms.ts';
import { page, table } from './table.ts';

/** Each table with what is handed over for a field of it. */
const TABLES: readonly (readonly [title: string, forms: object, handedOver: string])[] = [
  ['Options of a route', ROUTE_FORMS, 'the route is'],
  ['Options of a virtual host', VIRTUAL_HOST_FORMS, 'all routes of the virtual host are'],
  ['Options of a weighted destination', DESTINATION_FORMS, 'the route is'],
  ['Matchers', MATCHER_FORMS, 'the route is'],
  ['Redirects', REDIRECT_FORMS, 'the route is'],
  ['Upstreams', UPSTREAM_FORMS, 'all routes to the upstream are'],
  ['Options of a Gateway', LISTENER_FORMS, 'the listener is'],
  ['HTTP options of a Gateway', HTTP_LISTENER_FORMS, 'the listener is'],
  ['Route options of a Gateway', ROUTE_CONFIG_FORMS, 'the listener is'],
  ['TLS of a listener', TLS_FORMS, 'the listener is'],
];

/** What an Envoy serves itself, option by option. */
export function envoyPage(): string {
  return page([
    '# Options that Envoy serves',
    'With [Envoy as the proxy](../envoy.md), the control plane translates these options. What Envoy cannot express with the same meaning is handed over to Node proxies, ' +
      'as a whole: all options of the route, or all connections of the listener. Without Node proxies, the route returns 500 and the listener is not opened. Fields that are not listed count as **no**.',
    ...TABLES.map(([title, forms, handedOver]) => {
      const rows = formRows(forms).map(({ field, form }) => [`\`${field}\``, wordOf(form, handedOver)]);
      return `## ${title}\n\n${table(['Field', 'Served by Envoy'], rows)}`;
    }),
    '## Actions and destinations',
    table(
      ['Route', 'Served by Envoy'],
      [
        ['`routeAction` to upstreams, with weights and subsets', 'yes'],
        ['`redirectAction`, `directResponseAction`, the replacement of an invalid route', 'yes'],
        ['`routeAction.clusterHeader`, `routeAction.dynamicForwardProxy`', 'no: the route is handed over'],
        ['`graphqlApiRef`', 'no: the route is handed over'],
        ['`destinationSpec.rest`, and upstreams with `grpcJsonTranscoder`', 'no: the route is handed over'],
        ['several destinations of which one is broken', 'no: the route is handed over'],
        ['TCP, hybrid and aggregate gateways', 'no: the listener is handed over'],
      ],
    ),
  ]);
}

function wordOf(form: FormRow['form'], handedOver: string): string {
  if (form === 'yes') return 'yes';
  return form === 'no' ? `no: ${handedOver} handed over` : form.when;
}
