import { DestinationSpec, MultiDestination } from './destination.ts';
import { block, bool, enumeration, int, list, map, named, notYet, of, ref, text, type Static } from './field.ts';
import { LabelExpression, Matcher } from './matcher.ts';
import { RegexRewrite } from './regex-rewrite.ts';
import { RouteOptions } from './route-options.ts';

const routeAction = block(
  {
    single: of(DestinationSpec, 'One destination.'),
    multi: of(MultiDestination, 'Several weighted destinations.'),
    upstreamGroup: ref('An UpstreamGroup. Namespace when missing: that of the resource it is written in.'),
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
      'Goes to a host named by the request.',
      notYet,
    ),
  },
  { oneOf: [{ members: ['single', 'multi', 'upstreamGroup', 'clusterHeader', 'dynamicForwardProxy'] }] },
);
/** Sends a request on. */
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
/** Answers with a redirect. */
export interface RedirectAction extends Static<typeof redirect> {}
export const RedirectAction = named<RedirectAction>('RedirectAction', redirect);

const direct = block({
  status: int('Status to answer with.', { minimum: 200, maximum: 599 }),
  body: text('Body; at most 4096 bytes unless the Gateway allows more.'),
});
/** Answers without an upstream. */
export interface DirectResponseAction extends Static<typeof direct> {}
export const DirectResponseAction = named<DirectResponseAction>('DirectResponseAction', direct);

const selector = block({
  namespaces: list(text(), 'Namespaces that are searched; `*` is all. Empty: that of the delegating resource.'),
  labels: map(text(), 'Labels that a table has to carry. Not together with `expressions`.'),
  expressions: list(LabelExpression, 'Expressions that the labels of a table have to fulfil.'),
});
/** Chooses route tables. */
export interface RouteTableSelector extends Static<typeof selector> {}
export const RouteTableSelector = named<RouteTableSelector>('RouteTableSelector', selector);

const delegate = block(
  {
    ref: ref('One RouteTable.'),
    selector: of(RouteTableSelector, 'All RouteTables that fit.'),
    name: text('Deprecated; name of the RouteTable, wins over everything else.'),
    namespace: text('Deprecated; namespace of the RouteTable.'),
  },
  { oneOf: [{ members: ['ref', 'selector'] }] },
);
/** Hands requests to route tables. */
export interface DelegateAction extends Static<typeof delegate> {}
export const DelegateAction = named<DelegateAction>('DelegateAction', delegate);

const ACTIONS = ['routeAction', 'redirectAction', 'directResponseAction', 'delegateAction', 'graphqlApiRef'] as const;
const fields = block(
  {
    name: text('Name in logs, statistics and the command line.'),
    matchers: list(Matcher, 'Which requests it takes; any of them. Empty: prefix `/`.'),
    routeAction: of(ForwardAction, 'Sends the request on.'),
    redirectAction: of(RedirectAction, 'Answers with a redirect.'),
    directResponseAction: of(DirectResponseAction, 'Answers without an upstream.'),
    delegateAction: of(DelegateAction, 'Hands the request to route tables.'),
    graphqlApiRef: ref('GraphQLApi that answers the request.'),
    options: of(RouteOptions, 'Options of the route.'),
    optionsConfigRefs: of(
      block({
        delegateOptions: list(
          ref(),
          'RouteOptions; the inline options win, then the order counts. The last good options of a reference stay in force when a change breaks it or their resource is deleted.',
        ),
      }),
      'Options kept in other resources.',
    ),
    inheritableMatchers: bool(
      'Adds headers, query parameters and methods of the delegating route to the own matchers. Default: as the delegating route, else false.',
    ),
    inheritablePathMatchers: bool(
      'Takes the path of the delegating route instead of the own. Default: as the delegating route, else false.',
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
