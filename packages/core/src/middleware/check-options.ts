import { GatewayError } from '../errors.ts';
import { coreError } from '../error-codes.ts';
import { formatPath, type FieldPath, type FieldProblem } from '../resource/problem.ts';
import { JwtProviders } from '../schema/auth/jwt.ts';
import { Rbac } from '../schema/auth/rbac.ts';
import type { Schema } from '../schema/field.ts';
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
import { fittingNode, nodeOf, type Node } from '../validate/types/node.ts';
import { normalise } from '../validate/types/normalise.ts';

/** What the options of a middleware must match. */
export interface OptionRules {
  readonly schema: Schema;
  /** Checks what the schema cannot express; the same checks as for resources. */
  readonly check?: Check<never>;
  /** Creates the error of invalid options. Default: `ERR_CORE_MIDDLEWARE`. */
  readonly error?: (message: string) => GatewayError;
}

/** The blocks of resources that middlewares have as options. */
const BLOCKS = {
  BufferPerRoute: { schema: BufferPerRoute },
  Cors: { schema: Cors, check: checkCors },
  Csrf: { schema: Csrf, check: checkCsrf },
  Dlp: { schema: Dlp, check: checkDlp },
  Gzip: { schema: Gzip },
  JwtProviders: { schema: JwtProviders },
  Rbac: { schema: Rbac },
  TransformationStage: { schema: TransformationStage, check: checkStage },
} as const satisfies Record<string, OptionRules>;

const ORIGIN = { file: 'options', line: 1, column: 1 };

/** The block of resources that a middleware has as its options. */
export type OptionBlock = keyof typeof BLOCKS;

/**
 * Checks the options of the middleware `name` by their schema and by the semantic checks of resources. The options returned are a frozen copy in
 * their normal form: a block may be written with names in snake case, which a concern does not know. Throws the error of the rules, with the field,
 * what it must be and what it is.
 */
export function checkOptions<Options extends object>(
  name: string,
  written: Options,
  rules: OptionBlock | OptionRules,
): Options {
  const { schema, check, error = middlewareError }: OptionRules = typeof rules === 'string' ? BLOCKS[rules] : rules;
  if (typeof written !== 'object' || written === null) throw error(`${name}: options are missing`);
  const node = nodeOf(schema);
  const notPlain = findNotPlain(written, node, [], new Set());
  if (notPlain) throw error(`${name}: ${problemText(notPlain, `must be plain data, got ${notPlain.found}`)}`);
  const report = new DocumentReport({ unit: '', value: written, origin: ORIGIN, locate: () => ORIGIN, issues: [] });
  const { spec } = normalise(schema, { written, at: [] }, report);
  const found = report.issues.find(isError) ?? check?.(spec as never, []).find(isError);
  if (found) throw error(`${name}: ${problemText(found, found.message, found.hint)}`);
  return spec as Options;
}

const middlewareError = (message: string): GatewayError => coreError('ERR_CORE_MIDDLEWARE', message);

const problemText = ({ path }: Pick<FieldProblem, 'path'>, message: string, hint?: string): string =>
  [path.length > 0 && `${formatPath(path)}: `, message, hint && ` (${hint})`].filter(Boolean).join('');

/** A value that a resource cannot have. */
interface NotPlain {
  readonly path: FieldPath;
  readonly found: string;
}

/**
 * Returns the first value that a resource cannot have, or that would count as absent there: without its claims, a principal would match everybody. Values
 * that are `undefined` are left to the schema, which allows them for fields; values of a program, and `null` in free-form content, are allowed.
 */
function findNotPlain(
  value: unknown,
  node: Node | undefined,
  path: FieldPath,
  above: ReadonlySet<unknown>,
): NotPlain | undefined {
  if (node?.type === 'value') return undefined;
  if (value === null) return node?.type === 'anything' ? undefined : { path, found: 'null' };
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : { path, found: String(value) };
  if (typeof value === 'function' || typeof value === 'symbol' || typeof value === 'bigint')
    return { path, found: `a ${typeof value}` };
  if (typeof value !== 'object') return undefined;
  if (above.has(value)) return { path, found: 'a cycle' };
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
  if (kind !== 'Object' && kind !== 'Array') return { path, found: `a ${kind}` };
  const within = new Set(above).add(value);
  const fitting = node?.type === 'either' ? fittingNode(node.nodes, value) : node;
  for (const [key, item] of Object.entries(value)) {
    const step = kind === 'Array' ? Number(key) : key;
    // An unknown key is reported as such.
    if (fitting?.type === 'object' && !nodeAt(fitting, key)) continue;
    const found = findNotPlain(item, nodeAt(fitting, key), [...path, step], within);
    if (found) return found;
  }
  return undefined;
}

function nodeAt(node: Node | undefined, key: string): Node | undefined {
  if (node?.type === 'list') return node.items;
  if (node?.type === 'map') return node.values;
  if (node?.type === 'anything') return node;
  const field = node?.type === 'object' ? node.fields.get(node.aliases.get(key) ?? key) : undefined;
  return field && nodeOf(field);
}

function isError({ severity }: Pick<FieldProblem, 'severity'>): boolean {
  return severity !== 'warning';
}
