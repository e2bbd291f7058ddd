import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type ResourceRef } from '../../resource/resource.ts';
import type { RouteOptions, VirtualHostOptions } from '../../schema/route/route-options.ts';
import type { Ref } from '../../schema/field.ts';
import type { GoodOptions, LastGood } from './last-good.ts';
import { dotted } from '../names.ts';
import { withNamespaces } from './option-refs.ts';
import type { Report } from '../status/report.ts';
import type { Reader } from '../world.ts';

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

/**
 * Where the options are written: default namespace of references, whose problems they are, the path of their holder, and
 * how its last good options are known.
 */
export interface OptionContext {
  readonly namespace: string;
  readonly reader: Reader;
  readonly report: Report;
  readonly at: FieldPath;
  readonly lastGood: LastGood;
  readonly keys: readonly string[];
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

type SharedKind = 'VirtualHostOption' | 'RouteOption';

function withReferences<O extends RouteOptions | VirtualHostOptions>(
  source: OptionSource<O>,
  kind: SharedKind,
  context: OptionContext,
): O {
  const own = fillOptions(source.options && withNamespaces(source.options, context.namespace), undefined);
  const shared = sharedOptions(source.optionsConfigRefs?.delegateOptions ?? [], kind, context);
  return shared.reduce<O>((merged, { options }) => fillOptions(merged, options as O | undefined), own);
}

/**
 * What the references lead to, in their order. One that leads nowhere keeps what it led to before, or what those led to
 * that it seems to be written in place of: a misspelt name must not switch off authentication.
 */
function sharedOptions(refs: readonly Ref[], kind: SharedKind, context: OptionContext): readonly GoodOptions[] {
  if (refs.length === 0) return [];
  const { lastGood, keys } = context;
  const written = refs.map(({ name = '', namespace = context.namespace }) => ({ name, namespace }));
  const listed = new Set(written.map((ref) => keyOf(kind, ref)));
  const before = lastGood.options.find(keys) ?? [];
  let replaced = before.filter((one) => !listed.has(one.ref));
  const shared = written.flatMap((ref, i) => {
    const at = [...context.at, 'optionsConfigRefs', 'delegateOptions', i];
    const key = keyOf(kind, ref);
    const known = before.filter((one) => one.ref === key);
    const kept = known.length > 0 ? known : replaced;
    const found = referenced(ref, kind, { ...context, at }, kept.length > 0);
    // The first of equal references counts.
    if (!listed.delete(key)) return [];
    if (found !== 'missing') return [{ ref: key, options: found }];
    if (kept === replaced) replaced = [];
    return kept.map(({ options }) => ({ ref: key, options }));
  });
  lastGood.options.keep(keys, Object.freeze(shared));
  return shared;
}

/** The options that a reference leads to; its problems are reported. */
function referenced(
  ref: ResourceRef,
  kind: SharedKind,
  { reader, report, at }: OptionContext,
  isKept: boolean,
): object | undefined | 'missing' {
  const found = reader.find<{ options?: RouteOptions | VirtualHostOptions }>(kind, ref);
  const name = `${kind} ${dotted(ref)}`;
  if (found.state === 'missing') {
    const fault = reader.missing(`${name} not found`, kind, ref);
    report.warn(isKept ? `${fault.reason}; its last good options stay in force` : fault.reason, at, fault);
    return 'missing';
  }
  if (found.state === 'refused') {
    // Its policies would silently be lost, so resources that refer to it are rejected as well.
    report.error(`${name} is rejected: ${found.cause}`, at);
    return undefined;
  }
  if (found.stale) report.warn(`${name} serves its last valid version: ${found.stale}`, at);
  const { options } = found.resource.spec;
  return options && withNamespaces(options, ref.namespace);
}
