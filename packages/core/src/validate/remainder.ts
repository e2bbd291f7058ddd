import { isDeepStrictEqual } from 'node:util';
import type { FieldPath, Problem } from '../resource/problem.ts';
import type { Resource } from '../resource/resource.ts';
import type { SettingsSpec } from '../schema/kind/settings.ts';
import type { WrittenResource } from '../source/source.ts';
import { isObject } from './resource-identity.ts';
import type { ResourceCheck } from './check.ts';
import { validateWritten } from './validate.ts';

/** Each round removes what the previous one found; problems that this reveals are found in the next. */
const MAX_ROUNDS = 5;

/**
 * Returns rejected Settings without their invalid fields. The defaults are not always the safe choice: a
 * mistake in one field must not disable the others. An invalid block fails closed: that of `rbac` requires policies, that
 * of `extauth` denies requests whose check fails. Returns `undefined` if invalid parts cannot be removed.
 */
export function remainderOf(
  written: WrittenResource,
  issues: readonly Problem[],
  checks?: readonly ResourceCheck[],
): Resource | undefined {
  if (!isObject(written.value)) return undefined;
  let value: unknown = written.value;
  let found = issues;
  const blocks = new Set<unknown>();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const wrong = found.filter(({ severity }) => severity === 'error').map(({ path }) => path);
    for (const [, block] of wrong) blocks.add(block);
    const rest = wrong.reduce(without, value);
    if (isDeepStrictEqual(rest, value)) return undefined;
    const { resource, issues: left } = validateWritten({ ...written, value: rest }, checks);
    if (resource) return close(resource, blocks);
    value = rest;
    found = left;
  }
  return undefined;
}

/** Returns a copy without the field at `path`, or without its nearest existing parent below `spec`. */
function without(value: unknown, path: FieldPath): unknown {
  if (path.length < 2 || path[0] !== 'spec') return value;
  return withoutField(value, path) ?? value;
}

/** Returns `undefined` if the path does not exist. Lists are removed as a whole: without one element they would have another meaning. */
function withoutField(value: unknown, [step, ...rest]: FieldPath): unknown {
  if (!isObject(value) || typeof step !== 'string' || !Object.hasOwn(value, step)) return undefined;
  const inner = rest.length === 0 ? undefined : withoutField(value[step], rest);
  const { [step]: _, ...others } = value;
  if (inner !== undefined) return { ...others, [step]: inner };
  return step === 'spec' ? undefined : others;
}

function close(resource: Resource, blocks: ReadonlySet<unknown>): Resource {
  const { rbac, extauth, ...others } = resource.spec as SettingsSpec;
  const spec = {
    ...others,
    ...(extauth && { extauth: blocks.has('extauth') ? { ...extauth, failureModeAllow: false } : extauth }),
    ...(blocks.has('rbac') ? { rbac: { ...rbac, requireRbac: true } } : rbac && { rbac }),
  };
  return Object.freeze({ ...resource, spec });
}
