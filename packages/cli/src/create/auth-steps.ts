import { Option, type Command } from 'commander';
import { cliError } from '../error-codes.ts';
import { readPairs } from './pairs.ts';

/** The flags of `create authconfig`. */
export interface AuthFlags {
  readonly enableOidcAuth?: boolean;
  readonly oidcAuthClientId?: string;
  readonly oidcAuthClientSecretName?: string;
  readonly oidcAuthClientSecretNamespace?: string;
  readonly oidcAuthIssuerUrl?: string;
  readonly oidcAuthAppUrl?: string;
  readonly oidcAuthCallbackPath?: string;
  readonly oidcScope?: string;
  readonly authEndpointQueryParams?: string;
  readonly enableApikeyAuth?: boolean;
  readonly apikeyLabelSelector?: string;
  readonly apikeySecretName?: string;
  readonly apikeySecretNamespace?: string;
  readonly enableOpaAuth?: boolean;
  readonly opaQuery?: string;
  readonly opaModuleRef?: string;
}

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
    // Gateways reject AuthConfigs with OPA, which is not supported yet.
    .addOption(new Option('--enable-opa-auth', 'add policies in Rego').hideHelp())
    .addOption(new Option('--opa-query <query>', 'query of the policies').hideHelp())
    .addOption(
      new Option('--opa-module-ref <refs>', 'ConfigMaps with policies, namespace.name,namespace.name').hideHelp(),
    );
}

/** The steps that the flags ask for, each checked for what it cannot do without. The order: login, API keys, policies. */
export function authSteps(flags: AuthFlags, namespace: string): Record<string, unknown>[] {
  refuseStray(flags);
  const steps = [
    ...(flags.enableOidcAuth ? [oidcStep(flags, namespace)] : []),
    ...(flags.enableApikeyAuth ? [apiKeyStep(flags, namespace)] : []),
    ...(flags.enableOpaAuth ? [opaStep(flags, namespace)] : []),
  ];
  if (steps.length > 0) return steps;
  throw cliError('ERR_CLI_USAGE', 'missing --enable-oidc-auth or --enable-apikey-auth');
}

const BELONGS: readonly (readonly [prefix: RegExp, enable: keyof AuthFlags, flag: string])[] = [
  [/^(?:oidc|authEndpoint)/, 'enableOidcAuth', '--enable-oidc-auth'],
  [/^apikey/, 'enableApikeyAuth', '--enable-apikey-auth'],
  [/^opa/, 'enableOpaAuth', '--enable-opa-auth'],
];

/** A flag of a method that is not enabled would do nothing, which is never what was meant. */
function refuseStray(flags: AuthFlags): void {
  for (const [prefix, enable, flag] of BELONGS) {
    const stray = Object.keys(flags).find((name) => prefix.test(name));
    if (stray === undefined || flags[enable]) continue;
    throw cliError(
      'ERR_CLI_USAGE',
      `--${stray.replaceAll(/[A-Z]/g, (char) => `-${char.toLowerCase()}`)} needs ${flag}`,
    );
  }
}

function needed(value: string | undefined, flag: string): string {
  if (!value) throw cliError('ERR_CLI_USAGE', `missing --${flag}`);
  return value;
}

function oidcStep(flags: AuthFlags, namespace: string): Record<string, unknown> {
  const scopes = flags.oidcScope?.split(',').map((scope) => scope.trim());
  const params = flags.authEndpointQueryParams;
  const oidcAuthorizationCode = {
    issuerUrl: httpUrl(needed(flags.oidcAuthIssuerUrl, 'oidc-auth-issuer-url'), 'oidc-auth-issuer-url'),
    clientId: needed(flags.oidcAuthClientId, 'oidc-auth-client-id'),
    clientSecretRef: {
      name: needed(flags.oidcAuthClientSecretName, 'oidc-auth-client-secret-name'),
      namespace: flags.oidcAuthClientSecretNamespace ?? namespace,
    },
    appUrl: httpUrl(needed(flags.oidcAuthAppUrl, 'oidc-auth-app-url'), 'oidc-auth-app-url'),
    callbackPath: callbackPath(needed(flags.oidcAuthCallbackPath, 'oidc-auth-callback-path')),
    ...(scopes && { scopes }),
    ...(params !== undefined && { authEndpointQueryParams: readPairs('auth-endpoint-query-params', params) }),
  };
  return { oauth2: { oidcAuthorizationCode } };
}

function apiKeyStep(flags: AuthFlags, namespace: string): Record<string, unknown> {
  const { apikeyLabelSelector: selector, apikeySecretName: name, apikeySecretNamespace } = flags;
  if (selector === undefined && name === undefined) {
    throw cliError('ERR_CLI_USAGE', 'missing --apikey-label-selector or --apikey-secret-name');
  }
  const labelSelector = selector === undefined ? undefined : readPairs('apikey-label-selector', selector);
  const refs = name === undefined ? undefined : [{ name, namespace: apikeySecretNamespace ?? namespace }];
  return { apiKeyAuth: { ...(labelSelector && { labelSelector }), ...(refs && { apiKeySecretRefs: refs }) } };
}

function opaStep(flags: AuthFlags, namespace: string): Record<string, unknown> {
  const refs = needed(flags.opaModuleRef, 'opa-module-ref').split(',');
  const modules = refs.map((text) => {
    const at = text.indexOf('.');
    return at < 0 ? { name: text, namespace } : { name: text.slice(at + 1), namespace: text.slice(0, at) };
  });
  return { opaAuth: { query: needed(flags.opaQuery, 'opa-query'), modules } };
}

function httpUrl(text: string, flag: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.hash) return text;
  throw cliError('ERR_CLI_USAGE', `--${flag} has to be an http or https address`);
}

function callbackPath(text: string): string {
  if (/^\/[^?#\s]*$/.test(text)) return text;
  throw cliError('ERR_CLI_USAGE', '--oidc-auth-callback-path has to be a path that begins with /');
}
