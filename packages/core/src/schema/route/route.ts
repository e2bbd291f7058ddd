import { DestinationSpec, MultiDestination } from './destination.ts';
import * as f from '../field.ts';
import { LabelExpression, Matcher } from './matcher.ts';
import { RegexRewrite } from './regex-rewrite.ts';
import { RouteOptions } from './route-options.ts';

const routeAction = f.block(f.exclusive, {
  single: f.of(DestinationSpec, 'One destination.'),
  multi: f.of(MultiDestination, 'Several weighted destinations.'),
  upstreamGroup: f.ref('An UpstreamGroup. Default namespace: that of the enclosing resource.'),
  clusterHeader: f.text(
    'Request header whose value names the cluster, `<name>_<namespace>`. Without the header or the cluster the response is 503.',
  ),
  dynamicForwardProxy: f.group(
    'Forwards to the host that the request names, by default in `Host`. The listener needs `dynamicForwardProxy` too; without it the response is 503.',
    f.oneOf(['hostRewrite', 'autoHostRewriteHeader']),
    {
      hostRewrite: f.text('The host, with a port or none.'),
      autoHostRewriteHeader: f.text(
        'Request header that names the host. Without the header, the host of the request is used.',
      ),
    },
  ),
});
/** Forwards a request. */
export interface ForwardAction extends f.Static<typeof routeAction> {}
export const ForwardAction = f.named<ForwardAction>('RouteAction', routeAction);

const redirect = f.block(f.oneOf(['pathRedirect', 'prefixRewrite', 'regexRewrite']), {
  hostRedirect: f.text('New host.'),
  pathRedirect: f.text('New path. A query in it replaces that of the request.'),
  prefixRewrite: f.text('Replaces the matched prefix. A query in it comes before that of the request.'),
  regexRewrite: f.of(RegexRewrite, 'Rewrites the path.'),
  responseCode: f.choice(
    ['MOVED_PERMANENTLY', 'FOUND', 'SEE_OTHER', 'TEMPORARY_REDIRECT', 'PERMANENT_REDIRECT'],
    'Status: 301, 302, 303, 307 or 308.',
  ),
  httpsRedirect: f.flag('New scheme https.'),
  schemeRedirect: f.choice(['http', 'https'], 'New scheme; `httpsRedirect` takes precedence.'),
  stripQuery: f.flag('Drops the query.'),
  portRedirect: f.port('New port. The default port of the scheme is left out of the `Location`.'),
});
/** Returns a redirect. */
export interface RedirectAction extends f.Static<typeof redirect> {}
export const RedirectAction = f.named<RedirectAction>('RedirectAction', redirect);

const direct = f.block({
  status: f.int('Response status.', { minimum: 200, maximum: 599 }),
  body: f.text('Response body; at most 4096 bytes unless the Gateway allows more.'),
});
/** Returns a response without an upstream. */
export interface DirectResponseAction extends f.Static<typeof direct> {}
export const DirectResponseAction = f.named<DirectResponseAction>('DirectResponseAction', direct);

const selector = f.block({
  namespaces: f.texts('Namespaces to search; `*` is all. Empty: that of the delegating resource.'),
  labels: f.map(f.text(), 'Labels that a table must have. Not together with `expressions`.'),
  expressions: f.list(LabelExpression, 'Expressions that the labels of a table must match.'),
});
/** Selects route tables. */
export interface RouteTableSelector extends f.Static<typeof selector> {}
export const RouteTableSelector = f.named<RouteTableSelector>('RouteTableSelector', selector);

const delegate = f.block(f.oneOf(['ref', 'selector']), {
  ref: f.ref('One RouteTable.'),
  selector: f.of(RouteTableSelector, 'All RouteTables that match.'),
  name: f.text('Deprecated; name of the RouteTable, takes precedence over everything else.'),
  namespace: f.text('Deprecated; namespace of the RouteTable.'),
});
/** Delegates requests to route tables. */
export interface DelegateAction extends f.Static<typeof delegate> {}
export const DelegateAction = f.named<DelegateAction>('DelegateAction', delegate);

const ACTIONS = ['routeAction', 'redirectAction', 'directResponseAction', 'delegateAction', 'graphqlApiRef'] as const;
const fields = f.block(
  f.exactlyOne('route must specify an action', ...ACTIONS),
  f.beside('headerManipulation', 'jwt', 'rbac'),
  {
    name: f.text('Name in logs, statistics and the CLI.'),
    matchers: f.list(Matcher, 'Matchers; one must match. Empty: prefix `/`.'),
    routeAction: f.of(ForwardAction, 'Forwards the request.'),
    redirectAction: f.of(RedirectAction, 'Returns a redirect.'),
    directResponseAction: f.of(DirectResponseAction, 'Returns a response without an upstream.'),
    delegateAction: f.of(DelegateAction, 'Delegates the request to route tables.'),
    graphqlApiRef: f.ref('GraphQLApi that serves the request.'),
    options: f.of(RouteOptions, 'Options of the route.'),
    optionsConfigRefs: f.group('Options in other resources.', {
      delegateOptions: f.list(
        f.ref(),
        'RouteOptions; inline options take precedence, then earlier entries. The last good options of a reference stay in use if a change breaks it or their resource is deleted. Without any, requests are served without the options.',
      ),
    }),
    inheritableMatchers: f.bool(
      'Adds headers, query parameters and methods of the delegating route to the matchers of this route. Default: as the delegating route, else false.',
    ),
    inheritablePathMatchers: f.bool(
      'Uses the path of the delegating route instead of its own. Default: as the delegating route, else false.',
    ),
  },
);
/** A route as written. */
export interface RouteSpec extends f.Static<typeof fields> {}
export const RouteSpec = f.named<RouteSpec>('Route', fields);
