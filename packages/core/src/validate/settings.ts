import type { SettingsSpec } from '../schema/kind/settings.ts';
import { checkExtAuth, checkNamedExtAuth } from './auth/ext-auth.ts';
import { each, fields, reporterOf, within, type Check } from './check.ts';
import { checkRules } from './rate-limit/rate-limit-rules.ts';
import { checkRateLimitServer } from './rate-limit/check-limit-server.ts';
import { EXT_PROC_CHECKS } from './route/ext-proc.ts';
import { checkSslParameters } from './ssl-config.ts';
import type { FieldPath } from '../resource/problem.ts';
import { parseDuration } from '../syntax/duration.ts';
import { isNamespace } from './resource-identity.ts';
import { expressionProblem } from '../syntax/label-expression.ts';

type NamespaceSelector = NonNullable<SettingsSpec['watchNamespaceSelectors']>[number];

const report = reporterOf('INVALID_SETTINGS');

const MIN_REFRESH_MS = 1000;

/** Returns problems of the Settings. */
export const checkSettings: Check<SettingsSpec> = (spec, at) => [
  ...fields(spec, at, {
    extauth: checkExtAuth,
    namedExtauth: checkNamedExtAuth,
    ratelimit: checkRules,
    ratelimitServer: checkRateLimitServer,
    ...EXT_PROC_CHECKS,
    ...DIRECTORY_CHECKS,
    refreshRate: checkRefreshRate,
    watchNamespaces: (names, path) => each(names, path, checkNamespace),
    watchNamespaceSelectors: (selectors, path) => each(selectors, path, checkSelector),
  }),
  ...within(spec.upstreamOptions, [...at, 'upstreamOptions'], (options, path) =>
    fields(options, path, { sslParameters: checkSslParameters }),
  ),
];

const checkRefreshRate: Check<string> = (text, path) =>
  report(parseDuration(text) < MIN_REFRESH_MS && `refreshRate ${text} is below the minimum of 1s`, path);

type Directory = NonNullable<SettingsSpec['directoryConfigSource']>;

const checkDirectory: Check<Directory> = ({ directory }, path) =>
  report(directory === '' && 'the directory is empty', [...path, 'directory']);

const DIRECTORY_CHECKS = {
  directoryConfigSource: checkDirectory,
  directorySecretSource: checkDirectory,
  directoryArtifactSource: checkDirectory,
  secretOptions: ({ sources }: NonNullable<SettingsSpec['secretOptions']>, path: FieldPath) =>
    each(sources, [...path, 'sources'], (source, at) => fields(source, at, { directory: checkDirectory })),
};

/** An empty name is that of all namespaces. */
const checkNamespace: Check<string> = (name, path) =>
  report(name !== '' && !isNamespace(name) && `"${name.slice(0, 80)}" is not the name of a namespace`, path, {
    hint: name === '*' ? 'leave watchNamespaces out to read all namespaces' : undefined,
  });

const checkSelector: Check<NamespaceSelector> = ({ matchExpressions = [] }, path) =>
  each(matchExpressions, [...path, 'matchExpressions'], (expression, at) => {
    if (expression.operator === undefined) return report('an expression needs an operator', at);
    return report(expressionProblem(expression), at);
  });
