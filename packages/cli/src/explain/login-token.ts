import { jwtBlockOf } from '@edge-gateway/core';
import { JWT_STATUS } from '@edge-gateway/core/jwt';
import type { ExplainedAccess } from '@edge-gateway/rbac';
import type { RoutePlace } from '@edge-gateway/routing';
import { entries, items, text } from '../resources/objects.ts';

/**
 * Returns the header in which the login of a route adds the token that its JWT provider misses. External auth is not called
 * by an explanation, so the token is missing only there.
 */
export function headerOfLogin(
  { virtualHost, route }: RoutePlace,
  authConfig: string | undefined,
  { refusal, jwt }: ExplainedAccess,
): string | undefined {
  if (refusal?.body !== JWT_STATUS.missing.text || jwt.some(isRejectedBefore)) return undefined;
  const config = virtualHost.authConfigs?.find(({ ref }) => `${ref.namespace}/${ref.name}` === authConfig);
  const added = items(config?.spec, 'configs').flatMap(headersAdded);
  const block = jwtBlockOf([virtualHost.options, route.options], 'afterExtAuth');
  const read = new Set(entries(block, 'providers').flatMap(([, provider]) => headersRead(provider)));
  return added.find((header) => read.has(header));
}

const isRejectedBefore = ({ stage, passes }: ExplainedAccess['jwt'][number]): boolean =>
  stage === 'before external auth' && !passes;

function headersAdded(step: unknown): string[] {
  const headers = ['oauth2', 'oidcAuthorizationCode', 'headers'];
  return ['idTokenHeader', 'accessTokenHeader'].map((field) => text(step, ...headers, field).toLowerCase());
}

function headersRead(provider: unknown): string[] {
  const headers = items(provider, 'tokenSource', 'headers').map((one) => text(one, 'header').toLowerCase());
  const isDefault = headers.length === 0 && items(provider, 'tokenSource', 'queryParams').length === 0;
  return (isDefault ? ['authorization'] : headers).filter(Boolean);
}
