import type { RateLimitAction, RateLimitActions } from '@edge-gateway/core/schema';
import { rateLimitError } from '../error-codes.ts';
import { compileAction, constant, type ActionContext, type CompiledAction } from './actions.ts';
import { compileCost, type CostOf } from './cost.ts';
import { GENERIC_KEY, type Descriptor, type Entry } from './descriptor.ts';
import { compileLimitOverride, type LimitOverride } from './limit-override.ts';
import type { MetadataKey } from './metadata-value.ts';
import type { DescribedRequest } from './request.ts';

/** How actions are compiled. */
export interface ActionsOptions {
  /** `<namespace>.<name>` of the RateLimitConfig; becomes the first entry of every descriptor. */
  readonly resource?: string | undefined;
  /** Called once for each kind of value that cannot be used; the message contains no value of a request. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** Returns the descriptors of a request. */
export type DescriptorsOf = (request: DescribedRequest) => Descriptor[];

/**
 * Compiles the `rateLimits` of an option or a RateLimitConfig. A descriptor whose header, metadata or condition is absent is left out;
 * in sets, absent headers are skipped. Throws `ERR_RATE_LIMIT_ACTIONS` if an action is invalid or unsupported, and `ERR_CORE_REGEX` for
 * invalid expressions.
 *
 * @example
 * const descriptorsOf = compileActions([{ actions: [{ requestHeaders: { headerName: 'x-plan', descriptorKey: 'plan' } }] }]);
 * descriptorsOf(request); // [{ entries: [{ key: 'plan', value: 'gold' }], isSet: false }]
 */
export function compileActions(rateLimits: readonly RateLimitActions[], options: ActionsOptions = {}): DescriptorsOf {
  return descriptorsOfAll(compileDescriptors(rateLimits, options));
}

/** Compiles actions as {@link compileActions} does, each descriptor apart. */
export function compileDescriptors(
  rateLimits: readonly RateLimitActions[],
  options: ActionsOptions = {},
): readonly CompiledDescriptor[] {
  return rateLimits.flatMap((each) => compileEntry(each, options));
}

/** Returns the function that creates the descriptors. */
export function descriptorsOfAll(compiled: readonly CompiledDescriptor[]): DescriptorsOf {
  // Arrays of known length need far less memory than those that grow.
  const only = compiled.length === 1 ? compiled[0] : undefined;
  if (only) {
    return (request) => {
      const descriptor = describe(only, request);
      return descriptor ? [descriptor] : [];
    };
  }
  return (request) => {
    const descriptors: Descriptor[] = [];
    for (const each of compiled) {
      const descriptor = describe(each, request);
      if (descriptor) descriptors.push(descriptor);
    }
    return descriptors;
  };
}

/** The actions of one descriptor. */
export interface CompiledDescriptor {
  readonly isSet: boolean;
  readonly actions: readonly CompiledAction[];
  readonly limitOf: LimitOverride | undefined;
  readonly costOf: CostOf | undefined;
}

function compileEntry(fields: RateLimitActions, { resource, warn }: ActionsOptions): CompiledDescriptor[] {
  if (fields.type === 'TOKEN') throw rateLimitError('ERR_RATE_LIMIT_ACTIONS', 'type TOKEN is not supported: use cost');
  const { actions = [], setActions = [], limit, cost } = fields;
  const warnOnce = once(warn);
  const key = limit?.dynamicMetadata?.metadataKey as MetadataKey | undefined;
  const prefix = resource === undefined ? [] : [constant(GENERIC_KEY, resource)];
  const rest = {
    limitOf: key && compileLimitOverride(key, warnOnce),
    costOf: cost && compileCost(cost),
  };
  const compileAll = (list: readonly RateLimitAction[], context: ActionContext): CompiledDescriptor[] =>
    list.length === 0
      ? []
      : [{ ...rest, isSet: context.isSet, actions: [...prefix, ...list.map((each) => compileAction(each, context))] }];
  return [
    ...compileAll(actions, { isSet: false, warn: warnOnce }),
    ...compileAll(setActions, { isSet: true, warn: warnOnce }),
  ];
}

/** Passes each message on once. The messages are few: they contain no value of a request. */
function once(warn: ((message: string) => void) | undefined): (message: string) => void {
  const seen = new Set<string>();
  return (message) => {
    if (!warn || seen.has(message)) return;
    seen.add(message);
    warn(message);
  };
}

/** Returns the descriptor of a request; `undefined` if it has none. */
export function describe(
  { isSet, actions, limitOf, costOf }: CompiledDescriptor,
  request: DescribedRequest,
): Descriptor | undefined {
  const entries = new Array<Entry>(actions.length);
  let length = 0;
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i]!;
    const value = action.valueOf(request);
    if (value !== undefined) entries[length++] = action.entry ?? entryOf(action, value);
    else if (!action.isOptional) return undefined;
  }
  if (length < entries.length) entries.length = length;
  return { entries, isSet, limit: limitOf?.(request), cost: costOf?.(request) };
}

function entryOf({ key, isSecret }: CompiledAction, value: string): Entry {
  return isSecret ? { key, value, isSecret } : { key, value };
}
