import type { Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { needed, pairsOf, valueOf, type Flags } from './flags.ts';

/** Adds the flags that {@link authSteps} reads. */
export function addAuthFlags(command: Command): void {
  command
    .option('--enable-oidc-auth', 'add a login with OpenID Connect')
    .option('--oidc-auth-client-id <id>', 'client id')
    .option('--oidc-auth-client-secret-name <name>', 'name of the Secret with the client secret')
    .option(
      '--oidc-auth-client-secret-namespace <namespace>',
      'namespace of that Secret; default: that of the auth config',
    )
    .option('--oidc-auth-issuer-url <url>', 'URL of the issuer')
    .option('--oidc-auth-app-url <url>', 'public URL of the application')
    .option('--oidc-auth-callback-path <path>', 'path to which the provider redirects after the login')
    .option('--oidc-scope <scopes>', 'scopes in addition to openid, separated by commas')
    .option(
      '--auth-endpoint-query-params <pairs>',
      'query parameters of the authorization request, name=value,name=value',
    )
    .option('--enable-apikey-auth', 'add API keys')
    .option('--apikey-label-selector <labels>', 'labels of the Secrets with keys, name=value,name=value')
    .option('--apikey-secret-name <name>', 'name of a Secret with a key')
    .option('--apikey-secret-namespace <namespace>', 'namespace of that Secret; default: that of the auth config')
    .option('--enable-opa-auth', 'add policies in Rego')
    .option('--opa-query <query>', 'query of the policies')
    .option('--opa-module-ref <refs>', 'ConfigMaps with policies, namespace.name,namespace.name');
}

/** Returns the steps that the flags request, each checked for required flags. The order is login, API keys, policies. */
export function authSteps(flags: Flags, namespace: string): Record<string, unknown>[] {
  rejectStrayFlags(flags);
  const steps = METHODS.flatMap(({ enable, step }) => (flags[enable] ? [step(flags, namespace)] : []));
  if (steps.length > 0) return steps;
  throw cliError('ERR_CLI_USAGE', 'missing --enable-oidc-auth, --enable-apikey-auth or --enable-opa-auth');
}

const METHODS = [
  { enable: 'enableOidcAuth', flag: '--enable-oidc-auth', own: /^(?:oidc|authEndpoint)/, step: oidcStep },
  { enable: 'enableApikeyAuth', flag: '--enable-apikey-auth', own: /^apikey/, step: apiKeyStep },
  { enable: 'enableOpaAuth', flag: '--enable-opa-auth', own: /^opa/, step: opaStep },
] as const;

/** A flag of a method that is not enabled would have no effect, which is never intended. */
function rejectStrayFlags(flags: Flags): void {
  for (const { enable, flag, own } of METHODS) {
    const stray = Object.keys(flags).find((name) => own.test(name));
    if (stray === undefined || flags[enable]) continue;
    const written = stray.replaceAll(/[A-Z]/g, (char) => `-${char.toLowerCase()}`);
    throw cliError('ERR_CLI_USAGE', `--${written} needs ${flag}`);
  }
}

function oidcStep(flags: Flags, namespace: string): Record<string, unknown> {
  const issuerUrl = httpUrl(flags, 'oidc-auth-issuer-url');
  const clientId = needed(flags, 'oidc-auth-client-id');
  const clientSecretRef = {
    name: needed(flags, 'oidc-auth-client-secret-name'),
    namespace: valueOf(flags, 'oidc-auth-client-secret-namespace') ?? namespace,
  };
  const appUrl = httpUrl(flags, 'oidc-auth-app-url');
  const callbackPath = needed(flags, 'oidc-auth-callback-path');
  if (!/^\/[^?#\s]*$/.test(callbackPath))
    throw cliError('ERR_CLI_USAGE', '--oidc-auth-callback-path must begin with /');
  const scopes = valueOf(flags, 'oidc-scope')
    ?.split(',')
    .map((scope) => scope.trim());
  const authEndpointQueryParams = pairsOf(flags, 'auth-endpoint-query-params');
  const optional = { ...(scopes && { scopes }), ...(authEndpointQueryParams && { authEndpointQueryParams }) };
  const oidcAuthorizationCode = { issuerUrl, clientId, clientSecretRef, appUrl, callbackPath, ...optional };
  return { oauth2: { oidcAuthorizationCode } };
}

function apiKeyStep(flags: Flags, namespace: string): Record<string, unknown> {
  const labelSelector = pairsOf(flags, 'apikey-label-selector');
  const name = valueOf(flags, 'apikey-secret-name');
  if (labelSelector === undefined && name === undefined) {
    throw cliError('ERR_CLI_USAGE', 'missing --apikey-label-selector or --apikey-secret-name');
  }
  const refs = name !== undefined && [{ name, namespace: valueOf(flags, 'apikey-secret-namespace') ?? namespace }];
  return { apiKeyAuth: { ...(labelSelector && { labelSelector }), ...(refs && { apiKeySecretRefs: refs }) } };
}

function opaStep(flags: Flags, namespace: string): Record<string, unknown> {
  const modules = needed(flags, 'opa-module-ref')
    .split(',')
    .map((text) => {
      const at = text.indexOf('.');
      return at < 0 ? { name: text, namespace } : { name: text.slice(at + 1), namespace: text.slice(0, at) };
    });
  return { opaAuth: { query: needed(flags, 'opa-query'), modules } };
}

function httpUrl(flags: Flags, flag: string): string {
  const text = needed(flags, flag);
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.hash) return text;
  throw cliError('ERR_CLI_USAGE', `--${flag} must be an http or https URL`);
}
