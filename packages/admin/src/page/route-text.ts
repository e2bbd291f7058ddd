import { redactPath, REDACTED, type Destination, type Route } from '@edge-gateway/core';

type Matcher = Route['matchers'][number];

/** Returns the conditions of a matcher as text, without the values of headers and parameters, which may be credentials. */
export function matcherText({ prefix, exact, regex, connectMatcher, ...rest }: Matcher): string {
  const { methods = [], headers = [], queryParameters = [], caseSensitive = true } = rest;
  const path =
    [exact !== undefined && `= ${exact}`, regex !== undefined && `~ ${regex}`, connectMatcher && 'CONNECT'].find(
      (text) => text,
    ) || `${prefix || '/'}*`;
  const conditions = [
    ...headers.map(({ name, invertMatch }) => `${invertMatch ? 'not ' : ''}header ${name}`),
    ...queryParameters.map(({ name }) => `parameter ${name}`),
    ...(caseSensitive ? [] : ['any case']),
  ];
  const tail = conditions.length > 0 ? ` (${conditions.join(', ')})` : '';
  return `${methods.length > 0 ? `${methods.join('|')} ` : ''}${path}${tail}`;
}

/** Returns what a route does, as text. */
export function actionText(action: Route['action']): string {
  switch (action.type) {
    case 'forward':
      return destinationsText(action.destinations);
    case 'redirect':
      return `redirect ${redirectText(action.redirect)}`;
    case 'direct':
      return `respond ${action.status}`;
    case 'graphql':
      return `GraphQLApi ${action.api.namespace}/${action.api.name}`;
    case 'replacement':
      return `respond ${action.status} instead${action.reason ? `: ${action.reason}` : ''}`;
  }
}

function destinationsText(destinations: readonly Destination[]): string {
  const total = destinations.reduce((sum, { weight }) => sum + weight, 0);
  const texts = destinations.map(({ upstream, weight, subset, broken, rest }) => {
    const share = destinations.length > 1 && total > 0 ? ` ${Number(((100 * weight) / total).toFixed(1))} %` : '';
    const labels = subset ? ` [${Object.entries(subset).map((pair) => pair.join('='))}]` : '';
    const call = rest ? ` ${rest.functionName}()` : '';
    return `${upstream}${call}${labels}${share}${broken ? ` (responds ${broken.status}: ${broken.reason})` : ''}`;
  });
  return texts.join(', ');
}

type Redirect = Extract<Route['action'], { type: 'redirect' }>['redirect'];

function redirectText({
  httpsRedirect,
  schemeRedirect,
  hostRedirect,
  portRedirect,
  pathRedirect,
  prefixRewrite,
  responseCode,
}: Redirect): string {
  const newScheme = httpsRedirect ? 'https' : schemeRedirect;
  const host = hostRedirect || (newScheme || portRedirect ? '<host>' : '');
  const scheme = host && `${newScheme ?? '<scheme>'}://`;
  const path = pathRedirect ? redactPath(pathRedirect, REDACTED) : prefixRewrite ? `${prefixRewrite}*` : '';
  const code = responseCode === undefined ? '' : ` (${responseCode})`;
  return `to ${scheme}${host}${portRedirect ? `:${portRedirect}` : ''}${path}${code}`;
}
