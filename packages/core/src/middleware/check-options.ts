import type { TSchema } from 'typebox';
import { formatPath, type FieldPath, type FieldProblem } from '../resource/problem.ts';
import { JwtProviders } from '../schema/auth/jwt.ts';
import { Rbac } from '../schema/auth/rbac.ts';
import { Gzip } from '../schema/listener/gateway-options.ts';
import { Cors } from '../schema/route/cors.ts';
import { Dlp } from '../schema/route/dlp.ts';
import { BufferPerRoute, Csrf } from '../schema/route/small-options.ts';
import { TransformationStage } from '../schema/route/transformations.ts';
import { DocumentReport } from '../validate/document-report.ts';
import type { Check } from '../validate/check.ts';
import { checkCors } from '../validate/route/check-cors.ts';
import { checkCsrf } from '../validate/route/check-csrf.ts';
import { checkDlp } from '../validate/route/check-dlp.ts';
import { checkStage } from '../validate/transformation/check-transformations.ts';
import { normalise } from '../validate/types/normalise.ts';

/** The blocks of resources that middlewares have as options. */
const BLOCKS = {
  BufferPerRoute,
  Cors,
  Csrf,
  Dlp,
  Gzip,
  JwtProviders,
  Rbac,
  TransformationStage,
} as const satisfies Record<string, TSchema>;

/** What the schemas of the blocks cannot express; the same checks as for resources. */
const CHECKS: { readonly [B in OptionBlock]?: Check<never> } = {
  Cors: checkCors,
  Csrf: checkCsrf,
  Dlp: checkDlp,
  TransformationStage: checkStage,
};

const ORIGIN = { file: 'options', line: 1, column: 1 };

/** The block of resources that a middleware has as its options. */
export type OptionBlock = keyof typeof BLOCKS;

/** The options of a middleware as its concern reads them, or what is wrong with them. */
export interface CheckedOptions {
  readonly options: object;
  readonly problem?: string;
}

/**
 * Checks the options of a middleware by the schema of their block and by the semantic checks of resources. The options returned are a copy in
 * their normal form: a block may be written with names in snake case, which a concern does not know.
 */
export function checkedOptions(written: object, block: OptionBlock): CheckedOptions {
  const notPlain = findNotPlain(written, [], new Set());
  if (notPlain) return { options: written, problem: problemText(notPlain, `must be plain data, is ${notPlain.found}`) };
  const report = new DocumentReport({ unit: '', value: written, origin: ORIGIN, locate: () => ORIGIN, issues: [] });
  const { spec } = normalise(BLOCKS[block], { written, at: [] }, report);
  const found = report.issues.find(isError) ?? CHECKS[block]?.(spec as never, []).find(isError);
  if (!found) return { options: spec as object };
  return { options: written, problem: problemText(found, found.message, found.hint) };
}

const problemText = ({ path }: Pick<FieldProblem, 'path'>, message: string, hint?: string): string =>
  [path.length > 0 && `${formatPath(path)}: `, message, hint && ` (${hint})`].filter(Boolean).join('');

/** A value that a resource cannot have. */
interface NotPlain {
  readonly path: FieldPath;
  readonly found: string;
}

/**
 * Returns the first value that a resource cannot have, or that would count as absent there: without its claims, a principal would match everybody. Values
 * that are `undefined` are left to the schema, which allows them for fields.
 */
function findNotPlain(value: unknown, path: FieldPath, above: ReadonlySet<unknown>): NotPlain | undefined {
  if (value === null) return { path, found: 'null' };
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { path, found: String(value) };
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    return { path, found: `a ${typeof value}` };
  if (typeof value !== 'object') return undefined;
  if (above.has(value)) return { path, found: 'a cycle' };
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (kind !== 'Object' && kind !== 'Array') return { path, found: `a ${kind}` };
  const within = new Set(above).add(value);
  for (const [key, item] of Object.entries(value)) {
    const found = findNotPlain(item, [...path, kind === 'Array' ? Number(key) : key], within);
    if (found) return found;
  }
  return undefined;
}

function isError({ severity }: Pick<FieldProblem, 'severity'>): boolean {
  return severity !== 'warning';
}
