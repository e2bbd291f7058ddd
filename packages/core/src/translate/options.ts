import type { FieldPath } from '../parse/issue.ts';
import type { ResourceRef } from '../resource.ts';
import type { RouteOptions, VirtualHostOptions } from '../schema/route-options.ts';
import type { Ref } from '../schema/field.ts';
import { dotted } from './names.ts';
import { withNamespaces } from './option-refs.ts';
import type { Report } from './report.ts';
import type { Reader } from './world.ts';

/** Groups of keys of which one object sets only one. What sets one of them takes none of the others from elsewhere. */
const EXCLUSIVE: readonly (readonly string[])[] = [
  ['hostRewrite', 'autoHostRewrite', 'hostRewriteHeader', 'hostRewritePathRegex'],
  ['prefixRewrite', 'regexRewrite'],
  ['jwt', 'jwtStaged', 'jwtProvidersStaged'],
  ['stagedTransformations', 'transformations'],
  ['ratelimit', 'rateLimitConfigs'],
  ['ratelimitEarly', 'rateLimitEarlyConfigs'],
  ['ratelimitRegular', 'rateLimitRegularConfigs'],
];

type Options = Readonly<Record<string, unknown>>;

const NO_OPTIONS: Options = Object.freeze({});

/**
 * Fills the keys that `own` leaves unset from `below`, key by key and without looking inside. Neither is changed; where
 * one of them adds nothing, the other is given as it is.
 */
export function fillOptions<O extends object>(own: O | undefined, below: O | undefined): O {
  const upper = own as Options | undefined;
  const lower = below as Options | undefined;
  if (!lower) return (upper ?? NO_OPTIONS) as O;
  if (!upper || !Object.keys(upper).some((key) => isSet(upper[key]))) return lower as O;
  const added = Object.keys(lower).filter((key) => isSet(lower[key]) && !isTaken(upper, key));
  if (added.length === 0) return upper as O;
  const filled: Record<string, unknown> = { ...upper };
  for (const key of added) filled[key] = lower[key];
  return Object.freeze(filled) as O;
}

/** Absent, null, and empty texts and lists count as unset; false and 0 are values. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

function isTaken(options: Options, key: string): boolean {
  if (isSet(options[key])) return true;
  const group = EXCLUSIVE.find((members) => members.includes(key));
  return group !== undefined && group.some((member) => isSet(options[member]));
}

/** A block of options with the shared ones it refers to. */
export interface OptionSource<O> {
  readonly options?: O;
  readonly optionsConfigRefs?: { readonly delegateOptions?: readonly Ref[] };
}

/** Where the options are written: default namespace of references, whose problems they are, and the path of their holder. */
export interface OptionContext {
  readonly namespace: string;
  readonly reader: Reader;
  readonly report: Report;
  readonly at: FieldPath;
}

export function virtualHostOptions(
  source: OptionSource<VirtualHostOptions>,
  context: OptionContext,
): VirtualHostOptions {
  return withReferences(source, 'VirtualHostOption', context);
}

/** Own options, then the referenced ones in their order, then the effective options of the delegating route. */
export function routeOptions(
  source: OptionSource<RouteOptions>,
  inherited: RouteOptions | undefined,
  context: OptionContext,
): RouteOptions {
  return fillOptions(withReferences(source, 'RouteOption', context), inherited);
}

function withReferences<O extends RouteOptions | VirtualHostOptions>(
  source: OptionSource<O>,
  kind: 'VirtualHostOption' | 'RouteOption',
  context: OptionContext,
): O {
  const refs = source.optionsConfigRefs?.delegateOptions ?? [];
  return refs.reduce<O>(
    (merged, { name = '', namespace = context.namespace }, i) => {
      const at = [...context.at, 'optionsConfigRefs', 'delegateOptions', i];
      return fillOptions(merged, referenced<O>({ name, namespace }, kind, { ...context, at }));
    },
    fillOptions(source.options && withNamespaces(source.options, context.namespace), undefined),
  );
}

function referenced<O extends RouteOptions | VirtualHostOptions>(
  ref: ResourceRef,
  kind: 'VirtualHostOption' | 'RouteOption',
  { reader, report, at }: OptionContext,
): O | undefined {
  const found = reader.find<{ options?: O }>(kind, ref);
  const name = `${kind} ${dotted(ref)}`;
  if (found.state === 'missing') {
    const fault = reader.missing(`${name} not found`, kind, ref);
    report.warn(fault.reason, at, fault);
  }
  // Its policies would be lost without a word, so that whoever refers to it is refused as well.
  if (found.state === 'refused') report.error(`${name} is refused: ${found.cause}`, at);
  else if (found.state === 'usable' && found.stale)
    report.warn(`${name} serves its last valid version: ${found.stale}`, at);
  const options = found.state === 'usable' ? found.resource.spec.options : undefined;
  return options && withNamespaces(options, ref.namespace);
}
