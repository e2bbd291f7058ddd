import type { FieldPath } from '../../resource/problem.ts';
import type {
  RateLimitAction,
  RateLimitActions,
  RateLimitDescriptor,
  RateLimitRules,
  RateLimitSetDescriptor,
} from '../../schema/route/rate-limit.ts';

/** A list of actions that never counts a request. */
export interface UnmatchedLimit {
  /** Below the list of limits. */
  readonly path: FieldPath;
  readonly message: string;
}

/** An index of rules, because lists may be long. */
export interface RuleIndex {
  readonly tree: Level;
  readonly sets: readonly RateLimitSetDescriptor[];
}

type Level = ReadonlyMap<string, Branch>;

interface Branch {
  readonly byValue: Map<string, Node>;
  any: Node | undefined;
}

interface Node {
  readonly hasLimit: boolean;
  readonly children: Level;
}

/** Indexes rules for {@link unmatchedLimits}. */
export function indexRules({ descriptors = [], setDescriptors = [] }: RateLimitRules): RuleIndex {
  return { tree: indexLevel(descriptors), sets: setDescriptors };
}

function indexLevel(descriptors: readonly RateLimitDescriptor[]): Level {
  const level = new Map<string, Branch>();
  for (const { key = '', value, rateLimit, descriptors: inner = [] } of descriptors) {
    const branch = level.get(key) ?? { byValue: new Map<string, Node>(), any: undefined };
    level.set(key, branch);
    const node = { hasLimit: rateLimit !== undefined, children: indexLevel(inner) };
    if (value) branch.byValue.set(value, node);
    else branch.any = node;
  }
  return level;
}

/**
 * Returns the lists of actions whose entries match no rule, whatever a request contains: each at the action whose entry is in no rule,
 * or at the list. Nothing is returned for a list that a rule may match.
 */
export function unmatchedLimits(limits: readonly RateLimitActions[], rules: RuleIndex): readonly UnmatchedLimit[] {
  return limits.flatMap(({ actions = [], setActions = [], limit }, i) => {
    const hasOwnLimit = limit?.dynamicMetadata !== undefined;
    const found: UnmatchedLimit[] = [];
    if (actions.length > 0) {
      const failed = unmatchedTuple(actions.map(entryOf), rules.tree, hasOwnLimit);
      if (failed) found.push({ path: [i, 'actions', ...failed.path], message: failed.message });
    }
    if (setActions.length > 0 && !isSetMatched(setActions.map(entryOf), rules.sets, hasOwnLimit)) {
      const message = `${NOT_LIMITED}: no setDescriptors match ${textOf(setActions.map(entryOf))}`;
      found.push({ path: [i, 'setActions'], message });
    }
    return found;
  });
}

const NOT_LIMITED = 'these actions limit no request';

/** The entry of an action; without a value if it depends on the request. */
interface PossibleEntry {
  readonly key: string;
  readonly value?: string | undefined;
}

function entryOf(action: RateLimitAction): PossibleEntry {
  const { genericKey, headerValueMatch, requestHeaders, metadata } = action;
  if (genericKey) return { key: 'generic_key', value: genericKey.descriptorValue };
  if (headerValueMatch) return { key: 'header_match', value: headerValueMatch.descriptorValue };
  if (requestHeaders) return { key: requestHeaders.descriptorKey ?? '' };
  if (metadata) return { key: metadata.descriptorKey ?? '' };
  if (action.sourceCluster) return { key: 'source_cluster' };
  return { key: action.destinationCluster ? 'destination_cluster' : 'remote_address' };
}

/** Returns why no path of a tree is that of a tuple; `undefined` if one may be. */
function unmatchedTuple(
  entries: readonly PossibleEntry[],
  tree: Level,
  hasOwnLimit: boolean,
): { readonly path: FieldPath; readonly message: string } | undefined {
  let nodes: readonly Node[] = [{ hasLimit: false, children: tree }];
  for (const [i, entry] of entries.entries()) {
    nodes = nodes.flatMap(({ children }) => nodesOf(children.get(entry.key), entry.value));
    if (nodes.length > 0) continue;
    const before = i === 0 ? '' : ` after ${textOf(entries.slice(0, i))}`;
    return { path: [i], message: `${NOT_LIMITED}: no descriptor has ${textOf([entry])}${before}` };
  }
  if (hasOwnLimit || nodes.some(({ hasLimit }) => hasLimit)) return undefined;
  return { path: [], message: `${NOT_LIMITED}: no descriptor for ${textOf(entries)} has a rateLimit` };
}

/** A descriptor with the value is preferred to one without, even if it leads to no limit. */
function nodesOf(branch: Branch | undefined, value: string | undefined): readonly Node[] {
  if (!branch) return [];
  const exact = value === undefined ? undefined : branch.byValue.get(value);
  if (exact) return [exact];
  const any = branch.any ? [branch.any] : [];
  return value === undefined ? [...branch.byValue.values(), ...any] : any;
}

function isSetMatched(
  entries: readonly PossibleEntry[],
  rules: readonly RateLimitSetDescriptor[],
  hasOwnLimit: boolean,
): boolean {
  return rules.some(
    ({ simpleDescriptors = [], rateLimit }) =>
      (hasOwnLimit || rateLimit !== undefined) &&
      simpleDescriptors.every(({ key, value }) =>
        entries.some((entry) => entry.key === key && (!value || entry.value === undefined || entry.value === value)),
      ),
  );
}

const MAX_TEXT = 80;

function textOf(entries: readonly PossibleEntry[]): string {
  return entries
    .map(
      ({ key, value }) => `'${key.slice(0, MAX_TEXT)}'${value ? ` with the value '${value.slice(0, MAX_TEXT)}'` : ''}`,
    )
    .join(', ');
}
