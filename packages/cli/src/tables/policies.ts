import { dig, entries, items, text, type StatusObject } from '../resources/objects.ts';
import { statusCell } from '../resources/status.ts';
import { keyLines, nameOf, type Columns } from './columns.ts';

const AUTH_TYPES: Readonly<Record<string, string>> = {
  basicAuth: 'Basic Auth',
  oauth: 'OAuth',
  oauth2: 'OAuth2',
  apiKeyAuth: 'API Key',
  hmacAuth: 'HMAC',
  jwt: 'JWT',
  opaAuth: 'OPA',
  opaServerAuth: 'OPA Server',
  ldap: 'LDAP',
  passThroughAuth: 'Pass Through',
  portalAuth: 'Portal',
  pluginAuth: 'Plugin',
};

/** The columns of `get authconfigs`: a row per config. */
export const AUTH_CONFIG: Columns = {
  AuthConfig: nameOf,
  Type: ({ spec }) =>
    items(spec, 'configs').map((config) => entries(config).flatMap(([key]) => AUTH_TYPES[key] ?? [])[0] ?? 'Unknown'),
  Status: (object) => statusCell(object),
};

/** Returns the columns of options that virtual hosts or routes share: one option name per line. */
export function sharedOptions(title: string): Columns {
  return {
    [title]: nameOf,
    Options: ({ spec }) => keyLines(spec, 'options'),
    Targets: ({ spec }) =>
      items(spec, 'targetRefs')
        .map((ref) => `${text(ref, 'kind')} ${text(ref, 'name')}`)
        .join('\n'),
    Status: (object) => statusCell(object),
  };
}

/** The columns of rate limits with rules as trees. */
export const LIMIT_TREES: Columns = {
  RateLimitConfig: nameOf,
  Descriptors: ({ spec }) =>
    items(spec, 'raw', 'descriptors')
      .flatMap((rule) => descriptorLines(rule))
      .join('\n'),
  Actions: ({ spec }) => actionLines(spec, 'actions'),
  Status: (object) => statusCell(object),
};

/** The columns of rate limits with rules as sets. */
export const LIMIT_SETS: Columns = {
  'Set-Style RateLimitConfig': nameOf,
  'Set Descriptors': ({ spec }) => items(spec, 'raw', 'setDescriptors').map(setLine).join('\n'),
  'Set Actions': ({ spec }) => actionLines(spec, 'setActions'),
  Status: (object) => statusCell(object),
};

/** Returns true if {@link LIMIT_SETS} shows a rate limit. */
export const hasLimitSets = ({ spec }: StatusObject): boolean => dig(spec, 'raw', 'setDescriptors') !== undefined;

/** Returns true if {@link LIMIT_TREES} shows a rate limit. */
export const hasLimitTrees = (object: StatusObject): boolean =>
  !hasLimitSets(object) || dig(object.spec, 'raw', 'descriptors') !== undefined;

function limitText(rule: unknown): string {
  const amount = text(rule, 'rateLimit', 'requestsPerUnit');
  if (!amount) return '';
  const algorithm = ALGORITHMS[text(rule, 'rateLimit', 'algorithm')];
  const burst = text(rule, 'rateLimit', 'burst');
  const more = [
    ...(algorithm ? [burst ? `${algorithm} of ${burst}` : algorithm] : []),
    ...(Number(text(rule, 'weight')) > 0 ? [`weight ${text(rule, 'weight')}`] : []),
    ...(dig(rule, 'alwaysApply') === true ? ['always applies'] : []),
    ...(dig(rule, 'shadow') === true ? ['shadow'] : []),
  ];
  return [` - ${amount} per ${text(rule, 'rateLimit', 'unit')}`, ...more].join(', ');
}

/** What is shown of an algorithm other than the default. */
const ALGORITHMS: Readonly<Record<string, string>> = { SLIDING_WINDOW: 'sliding window', TOKEN_BUCKET: 'token bucket' };

function pairText(rule: unknown): string {
  const value = text(rule, 'value');
  return `${text(rule, 'key')}${value && `: ${value}`}`;
}

function descriptorLines(rule: unknown, indent = ''): string[] {
  const inner = indent.length < 32 ? items(rule, 'descriptors') : [];
  return [
    `${indent}${pairText(rule)}${limitText(rule)}`,
    ...inner.flatMap((one) => descriptorLines(one, `${indent}  `)),
  ];
}

function setLine(rule: unknown): string {
  return `[${items(rule, 'simpleDescriptors').map(pairText).join(', ')}]${limitText(rule)}`;
}

function actionLines(spec: unknown, member: 'actions' | 'setActions'): string {
  const lists = items(spec, 'raw', 'rateLimits').map((limit) => items(limit, member));
  const lines = lists.map((actions) => actions.map((action) => entries(action)[0]?.[0] ?? '').join(', '));
  return lines.filter((_, i) => lists[i]!.length > 0).join('\n');
}
