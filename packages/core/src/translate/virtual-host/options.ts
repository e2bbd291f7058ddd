import type { FieldPath } from '../../resource/problem.ts';
import { keyOf, type ResourceRef } from '../../resource/resource.ts';
import type { RouteOptions, VirtualHostOptions } from '../../schema/route/route-options.ts';
import type { Ref } from '../../schema/field.ts';
import type { GoodOptions, LastGood } from './last-good.ts';
import { dotted } from '../names.ts';
import { withNamespaces } from './option-refs.ts';
import type { Report } from '../status/report.ts';
import type { Reader } from '../input.ts';

/** Groups of exclusive keys. An object that sets one of them inherits none of the others. */
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
 * Fills unset keys of `own` from `below`, shallowly. Neither is changed; if
 * one of them adds nothing, the other is returned.
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

/** Missing, null, and empty strings and lists count as unset; false and 0 are values. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0);
}

function isTaken(options: Options, key: string): boolean {
  if (isSet(options[key])) return true;
  const group = EXCLUSIVE.find((members) => members.includes(key));
  return group !== undefined && group.some((member) => isSet(options[member]));
}

/** A block of options with the shared options that it refers to. */
export interface OptionSource<O> {
  readonly options?: O;
  readonly optionsConfigRefs?: { readonly delegateOptions?: readonly Ref[] };
}

/**
 * The place of the options: default namespace of references, report, path of their holder, and
 * the key of its last good options.
 */
export interface OptionContext {
  readonly namespace: string;
  readonly reader: Reader;
  readonly report: Report;
  readonly at: FieldPath;
  readonly lastGood: LastGood;
  readonly keys: readonly string[];
  /** Set if requests must be rejected without the options that a reference names, which may be policies. */
  readonly withheld?: Withheld;
}

/** Why requests are rejected: shared options that they need are not known. */
export class Withheld {
  reason: string | undefined;

  /** Keeps the first reason. */
  add(reason: string): void {
    this.reason ??= reason;
  }
}

export function virtualHostOptions(
  source: OptionSource<VirtualHostOptions>,
  context: OptionContext,
): VirtualHostOptions {
  return withReferences(source, 'VirtualHostOption', context);
}

/** Merges inline options, then referenced ones in order, then the effective options of the delegating route. */
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
  const own = fillOptions(
    source.options && withNamespaces(source.options, context.namespace, context.reader.input.derived),
    undefined,
  );
  const shared = sharedOptions(source.optionsConfigRefs?.delegateOptions ?? [], kind, context);
  return shared.reduce<O>((merged, { options }) => fillOptions(merged, options as O | undefined), own);
}

/**
 * Returns the referenced options in order. A broken reference keeps its last good options, or those of the reference
 * that it seems to replace: a misspelt name must not disable authentication.
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
    // Only the first of equal references is used and reported: another one would find no option left to replace.
    if (!listed.delete(key)) return [];
    const known = before.filter((one) => one.ref === key);
    const kept = known.length > 0 ? known : replaced;
    const found = referenced(ref, kind, { ...context, at }, kept.length > 0);
    if (found !== 'missing') return [{ ref: key, options: found }];
    if (kept === replaced) replaced = [];
    return kept.map(({ options }) => ({ ref: key, options }));
  });
  lastGood.options.keep(keys, Object.freeze(shared));
  return shared;
}

/** Returns the options of a reference, and reports its problems. */
function referenced(
  ref: ResourceRef,
  kind: SharedKind,
  { reader, report, at, withheld }: OptionContext,
  isKept: boolean,
): object | undefined | 'missing' {
  const found = reader.find<{ options?: RouteOptions | VirtualHostOptions }>(kind, ref);
  const name = `${kind} ${dotted(ref)}`;
  if (found.state === 'missing') {
    const fault = reader.missing(`${name} not found`, kind, ref);
    if (isKept)
      report.warn(
        { ...fault, message: `${fault.message}; its last good options stay in use`, effect: 'keeps-last-good' },
        at,
      );
    else {
      withheld?.add(fault.message);
      report.warn(withheld ? { ...fault, message: `${fault.message}; requests are rejected` } : fault, at);
    }
    return 'missing';
  }
  if (found.state === 'rejected') {
    const fault = `${name} is rejected: ${found.cause}`;
    if (withheld) {
      withheld.add(fault);
      report.warn(`${fault}; requests are rejected`, at);
    }
    // Its policies would silently be lost, so resources that refer to it are rejected as well.
    else report.error(fault, at);
    return undefined;
  }
  if (found.stale) report.warn(`${name} serves its last good version: ${found.stale}`, at);
  const { options } = found.resource.spec;
  return options && withNamespaces(options, ref.namespace, reader.input.derived);
}
