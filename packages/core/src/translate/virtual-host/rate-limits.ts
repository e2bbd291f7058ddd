import type { FieldPath, FieldProblem } from '../../resource/problem.ts';
import type { RouteAction } from '../../contract/snapshot.ts';
import type { RateLimitLevel } from '../../schema/route/route-options.ts';
import { localProblems } from '../../validate/rate-limit/check-rate-limit-options.ts';
import { indexRules, unmatchedLimits } from '../../validate/rate-limit/unmatched-limits.ts';
import type { Reader } from '../input.ts';
import { faultOf } from '../reference/missing.ts';
import type { SourcedProblem } from '../status/report.ts';
import { optionPlace, type OptionHolder } from './option-place.ts';
import { CONFIG_OPTIONS, findRateLimitConfig } from './rate-limit-refs.ts';

const OPTIONS = ['ratelimitBasic', 'ratelimit', 'ratelimitEarly', 'ratelimitRegular', ...CONFIG_OPTIONS] as const;
type Option = (typeof OPTIONS)[number];

/** Returns problems of the merged rate limits of a virtual host or a route, each at the field that causes it. */
export function rateLimitProblems(
  options: RateLimitLevel,
  holder: OptionHolder,
  reader: Reader,
): readonly SourcedProblem[] {
  if (!OPTIONS.some((name) => options[name])) return NONE;
  const place = placesOf(holder, reader);
  return [
    ...CONFIG_OPTIONS.flatMap((name) =>
      (options[name]?.refs ?? []).flatMap((ref, i) => {
        const { fault } = findRateLimitConfig(ref, reader);
        return fault ? [place(name, ['refs', i], fault)] : [];
      }),
    ),
    // Shared options may add a second local limit.
    ...localProblems(options, []).map(({ path: [name, ...below], message }) =>
      place(name as Option, below, faultOf(message)),
    ),
  ];
}

/** Returns warnings about RateLimitConfigs whose last good version is served, each at the field that refers to it. */
export function staleLimits(options: RateLimitLevel, holder: OptionHolder, reader: Reader): readonly SourcedProblem[] {
  if (!CONFIG_OPTIONS.some((name) => options[name])) return NONE;
  const place = placesOf(holder, reader);
  return CONFIG_OPTIONS.flatMap((name) =>
    (options[name]?.refs ?? []).flatMap((ref, i) => {
      const { warning } = findRateLimitConfig(ref, reader);
      return warning === undefined ? [] : [place(name, ['refs', i], faultOf(warning))];
    }),
  );
}

const RULED_OPTIONS = ['ratelimit', 'ratelimitEarly', 'ratelimitRegular'] as const;
const NO_RULES = indexRules({});

/**
 * Returns warnings about limits that no rule of the Settings matches, each at its actions. There are none for a listener with a rate limit
 * server, which has rules of its own.
 */
export function limitsWithoutRules(
  options: RateLimitLevel,
  holder: OptionHolder,
  reader: Reader,
): readonly SourcedProblem[] {
  if (reader.hasLimitServer || !RULED_OPTIONS.some((name) => options[name]?.rateLimits)) return NONE;
  const { settings, derived } = reader.input;
  const { ratelimit } = settings.served;
  const rules = ratelimit ? derived.of(indexRules, ratelimit) : NO_RULES;
  const place = placesOf(holder, reader);
  return RULED_OPTIONS.flatMap((name) =>
    unmatchedLimits(options[name]?.rateLimits ?? [], rules).map(({ path, message }) =>
      place(name, ['rateLimits', ...path], faultOf(`${message} (rules: spec.ratelimit of the Settings)`)),
    ),
  );
}

const NONE: readonly SourcedProblem[] = Object.freeze([]);

/** A route with merged options. */
export interface LimitedRoute {
  readonly name: string | undefined;
  readonly action: RouteAction;
  readonly holder: OptionHolder;
  /** Names of the routes of the virtual host that have `ratelimitBasic`; that of the route is added. */
  readonly limitedNames: Set<string>;
}

/** Returns problems of the rate limits of a route that does not forward, or has no name for its counters. */
export function routeLimitProblems(
  options: RateLimitLevel,
  { name, action, holder, limitedNames }: LimitedRoute,
  reader: Reader,
): readonly SourcedProblem[] {
  const used = OPTIONS.filter((option) => options[option]);
  if (used.length === 0) return NONE;
  const place = placesOf(holder, reader);
  const kind = NOT_FORWARDED[action.type];
  if (kind) return used.map((option) => place(option, [], faultOf(`${option} cannot be used on a ${kind}`)));
  if (!options.ratelimitBasic) return NONE;
  if (!name) return [place('ratelimitBasic', [], faultOf('ratelimitBasic requires a route name'))];
  if (!limitedNames.has(name)) {
    limitedNames.add(name);
    return NONE;
  }
  const message = `ratelimitBasic requires a unique route name: another limited route is named '${name}'`;
  return [{ ...faultOf(message), path: [...holder.at, 'name'] }];
}

const NOT_FORWARDED: Readonly<Partial<Record<RouteAction['type'], string>>> = {
  redirect: 'redirect',
  direct: 'direct response',
};

/** Returns the function that locates problems below an option: in the holder, or in the shared options that contain it. */
function placesOf(holder: OptionHolder, reader: Reader) {
  return (option: Option, below: FieldPath, fault: FieldProblem): SourcedProblem => {
    const place = optionPlace((options) => (options[option] ? [option, ...below] : undefined), holder, reader);
    if (!place?.shared) return { ...fault, path: place?.at ?? holder.at };
    const { name, source } = place.shared;
    return { ...fault, message: `${name}: ${fault.message}`, path: place.at, source };
  };
}
