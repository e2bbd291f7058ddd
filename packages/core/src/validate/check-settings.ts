import type { SettingsSpec } from '../schema/kind/settings.ts';
import { checkExtAuth, checkNamedExtAuth } from './auth/check-ext-auth.ts';
import { each, fields, reporterOf, within, type Check } from './check.ts';
import { checkRules } from './rate-limit/check-rate-limit-rules.ts';
import { checkRateLimitServer } from './rate-limit/check-limit-server.ts';
import { EXT_PROC_CHECKS } from './route/check-ext-proc.ts';
import { checkSslParameters } from './check-ssl-config.ts';
import type { FieldPath } from '../resource/problem.ts';
import { parseDuration } from '../syntax/duration.ts';
import { parseJsonPath } from '../syntax/json-path.ts';
import { CONFIG_STATUS_KINDS, kindOfName } from './config-status-kinds.ts';
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
  ...within(
    spec.observabilityOptions?.configStatusMetricLabels,
    [...at, 'observabilityOptions', CONFIG_STATUS],
    checkLabels,
  ),
  ...within(spec.upstreamOptions, [...at, 'upstreamOptions'], (options, path) =>
    fields(options, path, { sslParameters: checkSslParameters }),
  ),
];

const checkRefreshRate: Check<string> = (text, path) =>
  report(parseDuration(text) < MIN_REFRESH_MS && `refreshRate ${text} is below the minimum of 1s`, path);

const CONFIG_STATUS = 'configStatusMetricLabels';
type StatusLabels = NonNullable<NonNullable<SettingsSpec['observabilityOptions']>[typeof CONFIG_STATUS]>;

/** A label of Prometheus; two underscores in front are reserved. */
const LABEL = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

const checkLabels: Check<StatusLabels> = (labels, path) =>
  Object.entries(labels).flatMap(([name, { labelToPath = {} }]) => {
    const hint = `use one of ${CONFIG_STATUS_KINDS.join(', ')}`;
    const unknown = report(!kindOfName(name) && `${name} has no gauge of its state`, [...path, name], { hint });
    const wrong = Object.entries(labelToPath).flatMap(([label, text]) => {
      const at = [...path, name, 'labelToPath', label];
      if (!LABEL.test(label)) return report(`"${label.slice(0, 80)}" is not a valid name of a label`, at);
      const example = { hint: 'for example {.metadata.name}' };
      return report(!parseJsonPath(text) && `"${text.slice(0, 80)}" is not a path to a field`, at, example);
    });
    return [...unknown, ...wrong];
  });

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
