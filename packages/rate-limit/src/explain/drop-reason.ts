import type { RateLimitAction, RateLimitActions } from '@edge-gateway/core/schema';
import { compileAction } from '../descriptor/actions.ts';
import type { DescribedRequest } from '../descriptor/request.ts';

/** Returns why a request has no descriptor from actions; `undefined` if it has one. */
export function dropReason(
  { actions = [], setActions = [] }: Pick<RateLimitActions, 'actions' | 'setActions'>,
  request: DescribedRequest,
): string | undefined {
  const all = [
    ...actions.map((each) => ({ each, isSet: false })),
    ...setActions.map((each) => ({ each, isSet: true })),
  ];
  for (const { each, isSet } of all) {
    let warning: string | undefined;
    const warn = (message: string): void => {
      warning = message;
    };
    const action = compileAction(each, { isSet, warn });
    if (action.valueOf(request) === undefined && !action.isOptional) return warning ?? absence(each);
  }
  return all.length === 0 ? 'no actions' : undefined;
}

function absence({ requestHeaders, headerValueMatch, metadata, ...rest }: RateLimitAction): string {
  if (requestHeaders) return `header ${requestHeaders.headerName?.toLowerCase()} is absent`;
  if (rest.destinationCluster) return 'the route has no cluster';
  if (rest.sourceCluster) return 'the proxy has no cluster';
  if (metadata) {
    const path = (metadata.metadataKey?.path ?? []).map(({ key }) => key).join('.');
    return `metadata ${[metadata.metadataKey?.key, path].filter(Boolean).join(' ')} is absent`;
  }
  const expected = (headerValueMatch?.expectMatch ?? true) ? 'do not match' : 'match';
  const names = (headerValueMatch?.headers ?? []).map(({ name }) => name).join(', ');
  return `the conditions on ${names} of header_match ${headerValueMatch?.descriptorValue} ${expected}`;
}
