import { parseExpression } from '../../syntax/boolean-expression.ts';
import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { AuthConfigSpec, AuthStep } from '../../schema/kind/auth-config.ts';
import type { ApiKeyAuth, BasicAuth } from '../../schema/auth/auth-methods.ts';
import type { AccessTokenValidation, AzureGroups, Oauth2 } from '../../schema/auth/oauth2.ts';
import type { PassThroughAuth } from '../../schema/auth/pass-through-auth.ts';
import { isTrustedUrl } from '../../security/trusted-url.ts';
import { each, fields, thrownBy, within, type Check } from '../check.ts';
import { checkHmac } from './check-hmac.ts';
import { checkLdap } from './check-ldap.ts';
import { checkLogin, checkRedis, unless, UNTRUSTED_URL } from './check-login.ts';
import { checkOpa, checkOpaServer } from './check-opa.ts';

const ADDRESS = /^(?:dns:\/{2,3})?(?:[^\s/:]+|\[[0-9a-f:.]+\]):\d{1,5}$/i;
const BCRYPT_COST = /^\$2[aby]\$(\d\d)\$/;
/** At this cost one check takes several seconds. */
const MAX_BCRYPT_COST = 16;
const TOO_COSTLY = `the bcrypt cost must not exceed ${MAX_BCRYPT_COST}`;
/** Excludes `common` and similar names, which mean every tenant. */
const TENANT = /^(?!(?:common|organizations|consumers)$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i;

/** Returns problems of one AuthConfig that are independent of other resources. */
export const checkAuthConfig: Check<AuthConfigSpec> = (spec, at) => {
  const steps = spec.configs ?? [];
  const names = steps.map(({ name }, i) => name || `config_${i}`);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  return [
    ...unless(steps.length > 0, [...at, 'configs'], 'an auth config needs at least one step'),
    ...unless(twice === undefined, [...at, 'configs'], `two steps have the name ${twice}`),
    ...checkExpression(spec.booleanExpr, new Set(names), [...at, 'booleanExpr']),
    ...each(steps, [...at, 'configs'], checkStep),
  ];
};

function checkExpression(text: string | undefined, names: ReadonlySet<string>, path: FieldPath): FieldProblem[] {
  const problem = text && thrownBy(() => parseExpression(text, names));
  return unless(!problem, path, problem ?? '');
}

const checkStep: Check<AuthStep> = (step, at) =>
  fields(step, at, {
    basicAuth: checkBasic,
    apiKeyAuth: checkApiKey,
    oauth2: checkOauth2,
    passThroughAuth: checkPassThrough,
    hmacAuth: checkHmac,
    opaAuth: checkOpa,
    opaServerAuth: checkOpaServer,
    ldap: checkLdap,
  });

const checkBasic: Check<BasicAuth> = ({ apr, encryption, userList }, at) => {
  const extended = encryption?.apr !== undefined || encryption?.sha1 !== undefined;
  const complete = apr ? !encryption && !userList : extended && userList !== undefined;
  const block = apr ? 'apr' : 'userList';
  const costly = Object.entries((apr ?? userList)?.users ?? {}).filter(
    ([, { hashedPassword = '' }]) => Number(BCRYPT_COST.exec(hashedPassword)?.[1] ?? 0) > MAX_BCRYPT_COST,
  );
  return [
    ...unless(complete, at, 'basicAuth requires apr, or encryption and userList'),
    ...costly.flatMap(([name]) => unless(false, [...at, block, 'users', name, 'hashedPassword'], TOO_COSTLY)),
  ];
};

const checkApiKey: Check<ApiKeyAuth> = ({ match, digest }, at) =>
  unless(!match || !!digest, [...at, 'match'], 'match can only be used with digest');

const checkOauth2: Check<Oauth2> = (oauth2, at) => {
  const { oidcAuthorizationCode: oidc, oauth2: plain, accessTokenValidation: token } = oauth2;
  const findings = [
    ...unless(!!(oidc ?? plain ?? token), at, 'oauth2 sets no mode'),
    ...within(oidc?.azure, [...at, 'oidcAuthorizationCode', 'azure'], checkAzure),
    ...within(token?.azure, [...at, 'accessTokenValidation', 'azure'], checkAzure),
    ...within(token, [...at, 'accessTokenValidation'], checkTokenValidation),
  ];
  for (const [mode, login] of Object.entries({ oidcAuthorizationCode: oidc, oauth2: plain })) {
    if (!login) continue;
    const { clientSecret, privateKeyJwt } = oidc?.clientAuthentication ?? {};
    const own = clientSecret?.clientSecretRef ?? clientSecret?.disableClientSecret ?? privateKeyJwt;
    const known = login.clientSecretRef ?? login.disableClientSecret ?? (mode === 'oauth2' ? undefined : own);
    findings.push(
      ...unless(!!known, [...at, mode], 'the client needs a secret, or disableClientSecret'),
      ...checkLogin(login, [...at, mode]),
    );
  }
  return findings;
};

const checkTokenValidation: Check<AccessTokenValidation> = (token, at) => {
  const { introspection, introspectionUrl, jwt } = token;
  const { clientId, clientSecretRef, disableClientSecret } = introspection ?? {};
  const keys = jwt?.localJwks?.inlineString || jwt?.remoteJwks?.url;
  return [
    ...checkTokenUrls(token, at),
    ...unless(!!(introspection ?? jwt) || !!introspectionUrl, at, 'accessTokenValidation needs jwt or introspection'),
    ...unless(!jwt || !!keys, [...at, 'jwt'], 'jwt needs remoteJwks.url or localJwks.inlineString'),
    ...unless(!clientSecretRef || !!clientId, [...at, 'introspection'], 'a client secret needs a clientId'),
    ...unless(
      !clientId || !!clientSecretRef || !!disableClientSecret,
      [...at, 'introspection'],
      'clientId needs clientSecretRef or disableClientSecret',
    ),
  ];
};

const checkTokenUrls: Check<AccessTokenValidation> = (token, at) => {
  const { introspection, introspectionUrl, userinfoUrl, jwt, allowHttp } = token;
  const calls: [FieldPath, string | undefined][] = [
    [['introspection', 'introspectionUrl'], introspection?.introspectionUrl],
    [['introspectionUrl'], introspectionUrl],
    [['userinfoUrl'], userinfoUrl],
    [['jwt', 'remoteJwks', 'url'], jwt?.remoteJwks?.url],
  ];
  return calls.flatMap(([field, url]) =>
    unless(!url || isTrustedUrl(url, { allowHttp }), [...at, ...field], UNTRUSTED_URL),
  );
};

const checkAzure: Check<AzureGroups> = ({ tenantId, claimsCachingOptions }, at) => [
  ...unless(!tenantId || TENANT.test(tenantId), [...at, 'tenantId'], 'must be the id or the domain of one tenant'),
  ...unless(
    !claimsCachingOptions || !!claimsCachingOptions.host,
    [...at, 'claimsCachingOptions', 'host'],
    'the Redis address is missing',
  ),
  ...within(claimsCachingOptions, [...at, 'claimsCachingOptions'], checkRedis),
];

const checkPassThrough: Check<PassThroughAuth> = ({ http, grpc }, at) => {
  const { allowedUpstreamHeaders = [], allowedUpstreamHeadersToOverwrite = [] } = http?.response ?? {};
  const overwritten = new Set(allowedUpstreamHeadersToOverwrite.map((name) => name.toLowerCase()));
  const both = allowedUpstreamHeaders.find((name) => overwritten.has(name.toLowerCase()));
  const pseudo = http?.request?.allowedHeaders?.find((name) => name.startsWith(':'));
  return [
    ...unless(!!http || !!grpc, at, 'passThroughAuth needs http or grpc'),
    ...unless(!http || isHttp(http.url ?? ''), [...at, 'http', 'url'], 'must be an http or https URL'),
    ...unless(!grpc || ADDRESS.test(grpc.address ?? ''), [...at, 'grpc', 'address'], 'must be host:port'),
    ...unless(both === undefined, [...at, 'http', 'response'], `${both} is both appended and overwritten`),
    ...unless(pseudo === undefined, [...at, 'http', 'request', 'allowedHeaders'], `${pseudo} is not a header name`),
  ];
};

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
