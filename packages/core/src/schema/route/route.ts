import { DestinationSpec, MultiDestination } from './destination.ts';
import { block, bool, enumeration, int, list, map, named, notYet, of, ref, text, type Static } from '../field.ts';
import { LabelExpression, Matcher } from './matcher.ts';
import { RegexRewrite } from './regex-rewrite.ts';
import { RouteOptions } from './route-options.ts';

const routeAction = block(
  {
    single: of(DestinationSpec, 'One destination.'),
    multi: of(MultiDestination, 'Several weighted destinations.'),
    upstreamGroup: ref('An UpstreamGroup. Default namespace: that of the enclosing resource.'),
    clusterHeader: text('Request header whose value names the cluster.', notYet),
    dynamicForwardProxy: of(
      block(
        {
          hostRewrite: text('The host.'),
          autoHostRewriteHeader: text('Request header that names the host.'),
        },
        {
          oneOf: [
            {
              members: ['hostRewrite', 'autoHostRewriteHeader'],
              required: true,
              message: 'dynamicForwardProxy must set hostRewrite or autoHostRewriteHeader',
            },
          ],
        },
      ),
      'Forwards to a host named by the request.',
      notYet,
    ),
  },
  { oneOf: [{ members: ['single', 'multi', 'upstreamGroup', 'clusterHeader', 'dynamicForwardProxy'] }] },
);
/** Forwards a request. */
export interface ForwardAction extends Static<typeof routeAction> {}
export const ForwardAction = named<ForwardAction>('RouteAction', routeAction);

const redirect = block(
  {
    hostRedirect: text('New host.'),
    pathRedirect: text('New path.'),
    prefixRewrite: text('Replaces the matched prefix.'),
    regexRewrite: of(RegexRewrite, 'Rewrites the path.'),
    responseCode: enumeration(
      ['MOVED_PERMANENTLY', 'FOUND', 'SEE_OTHER', 'TEMPORARY_REDIRECT', 'PERMANENT_REDIRECT'],
      'Status: 301, 302, 303, 307 or 308.',
      { default: 'MOVED_PERMANENTLY' },
    ),
    httpsRedirect: bool('New scheme https.', { default: false }),
    stripQuery: bool('Drops the query.', { default: false }),
    portRedirect: int('New port.', { minimum: 0, maximum: 65535 }),
  },
  { oneOf: [{ members: ['pathRedirect', 'prefixRewrite', 'regexRewrite'] }] },
);
/** Returns a redirect. */
export interface RedirectAction extends Static<typeof redirect> {}
export const RedirectAction = named<RedirectAction>('RedirectAction', redirect);

const direct = block({
  status: int('Response status.', { minimum: 200, maximum: 599 }),
  body: text('Response body; at most 4096 bytes unless the Gateway allows more.'),
});
/** Returns a response without an upstream. */
export interface DirectResponseAction extends Static<typeof direct> {}
export const DirectResponseAction = named<DirectResponseAction>('DirectResponseAction', direct);

const selector = block({
  namespaces: list(text(), 'Namespaces to search; `*` is all. Empty: that of the delegating resource.'),
  labels: map(text(), 'Labels that a table must have. Not together with `expressions`.'),
  expressions: list(LabelExpression, 'Expressions that the labels of a table must match.'),
});
/** Selects route tables. */
export interface RouteTableSelector extends Static<typeof selector> {}
export const RouteTableSelector = named<RouteTableSelector>('RouteTableSelector', selector);

const delegate = block(
  {
    ref: ref('One RouteTable.'),
    selector: of(RouteTableSelector, 'All RouteTables that match.'),
    name: text('Deprecated; name of the RouteTable, takes precedence over everything else.'),
    namespace: text('Deprecated; namespace of the RouteTable.'),
  },
  { oneOf: [{ members: ['ref', 'selector'] }] },
);
/** Delegates requests to route tables. */
export interface DelegateAction extends Static<typeof delegate> {}
export const DelegateAction = named<DelegateAction>('DelegateAction', delegate);

const ACTIONS = ['routeAction', 'redirectAction', 'directResponseAction', 'delegateAction', 'graphqlApiRef'] as const;
const fields = block(
  {
    name: text('Name in logs, statistics and the CLI.'),
    matchers: list(Matcher, 'Matchers; one must match. Empty: prefix `/`.'),
    routeAction: of(ForwardAction, 'Forwards the request.'),
    redirectAction: of(RedirectAction, 'Returns a redirect.'),
    directResponseAction: of(DirectResponseAction, 'Returns a response without an upstream.'),
    delegateAction: of(DelegateAction, 'Delegates the request to route tables.'),
    graphqlApiRef: ref('GraphQLApi that serves the request.'),
    options: of(RouteOptions, 'Options of the route.'),
    optionsConfigRefs: of(
      block({
        delegateOptions: list(
          ref(),
          'RouteOptions; inline options take precedence, then earlier entries. The last good options of a reference stay in use if a change breaks it or their resource is deleted.',
        ),
      }),
      'Options in other resources.',
    ),
    inheritableMatchers: bool(
      'Adds headers, query parameters and methods of the delegating route to the matchers of this route. Default: as the delegating route, else false.',
    ),
    inheritablePathMatchers: bool(
      'Uses the path of the delegating route instead of its own. Default: as the delegating route, else false.',
    ),
  },
  {
    oneOf: [{ members: ACTIONS, required: true, message: 'route must specify an action' }],
    beside: ['headerManipulation', 'jwt', 'rbac'],
  },
);
/** A route as it is written. */
export interface RouteSpec extends Static<typeof fields> {}
export const RouteSpec = named<RouteSpec>('Route', fields);
