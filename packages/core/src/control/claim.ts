import { formatOrigin, type FieldPath, type Problem } from '../resource/problem.ts';
import { identityOfKey, type Origin, type Resource, type ResourceKey } from '../resource/resource.ts';
import type { Source, WrittenResource } from '../source/source.ts';
import { redactRejected } from '../security/rejected-document.ts';
import type { Steps } from '../time/slices.ts';
import type { ResourceCheck } from '../validate/check.ts';
import { salvageSettings } from '../validate/salvage-settings.ts';
import { validateWritten, type Validated } from '../validate/validate.ts';

/** The claim of one document to a key. Several documents that claim the same key are duplicates. */
export interface Claim {
  readonly key: ResourceKey;
  readonly origin: Origin;
  /** `undefined` if it is rejected. */
  readonly resource: Resource | undefined;
  /** The document of a rejected resource, without secret values. */
  readonly written?: object;
  /** Rejected Settings without their invalid fields. */
  readonly remainder?: Resource;
  /** True for a rejected virtual service with an `sslConfig`. */
  readonly asksForTls?: true;
  readonly issues: readonly Problem[];
  /** Returns the position of a field, or of its nearest parent. */
  readonly locate?: (path: FieldPath) => Origin;
  /** True for a key that was in the unit before and may be in its unreadable part now. */
  readonly retained: boolean;
}

/** The content of a unit: its claims, and the problems without a key. */
export interface UnitContent {
  readonly claims: readonly Claim[];
  readonly unfiled: readonly Problem[];
}

/** Results of the validation of documents, which are validated once as long as they are in use. */
export type ValidatedDocuments = WeakMap<WrittenResource, Validated>;

/** How documents are validated. */
interface ContentOptions {
  readonly checks?: readonly ResourceCheck[] | undefined;
  readonly validated?: ValidatedDocuments | undefined;
  readonly platform?: Source['platform'];
}

/**
 * Validates the documents of a unit, one in each step. If one of them does not identify its resource, or cannot be read, the keys that were `held`
 * by the unit and are in none of the others stay claimed: they may not have been removed.
 */
export function* readContent(
  written: readonly WrittenResource[],
  held: Iterable<ResourceKey>,
  { checks, platform, validated }: ContentOptions = {},
): Steps<UnitContent> {
  const claims: Claim[] = [];
  const unfiled: Problem[] = [];
  for (const document of written) {
    const { key, resource, issues: all, locate } = validatedOf(document, { checks, validated });
    const issues = platform ? all.filter(({ code }) => code !== 'KUBERNETES_ONLY') : all;
    if (key === undefined) unfiled.push(...issues);
    else {
      const remainder =
        !resource && key.startsWith('Settings/') ? salvageSettings(document, issues, checks) : undefined;
      const tls = !resource && asksForTls(document.value) && { asksForTls: true as const };
      const rejected = !resource && { written: redactRejected(document.value, issues) };
      const { origin } = document;
      claims.push({ key, origin, resource, remainder, issues, locate, retained: false, ...rejected, ...tls });
    }
    yield;
  }
  const errors = unfiled.filter(isError);
  const broken = written.find(({ value, issues }) => value === undefined && issues.some(isError));
  // A copy has no reserved space.
  if (errors.length === 0 && !broken) return { claims: [...claims], unfiled };
  const claimed = new Set(claims.map(({ key }) => key));
  for (const key of held) {
    if (claimed.has(key)) continue;
    const issues = errors.length > 0 ? errors : [missingIssue(key, broken!.origin)];
    claims.push({ key, origin: issues[0]!.origin, resource: undefined, issues, retained: true });
  }
  return { claims, unfiled };
}

const isError = ({ severity }: Problem): boolean => severity === 'error';

/** The issue of a resource that another document of its unit may contain: without the `---` between them, two documents are one. */
function missingIssue(key: ResourceKey, origin: Origin): Problem {
  const message = 'may be in this document, which cannot be read';
  const hint = "fix the document: is a '---' missing?";
  return { code: 'UNREADABLE', severity: 'error', origin, ...identityOfKey(key), path: [], message, hint };
}

function asksForTls(value: unknown): boolean {
  const { kind, spec } = (value ?? {}) as { kind?: unknown; spec?: unknown };
  return kind === 'VirtualService' && typeof spec === 'object' && spec !== null && 'sslConfig' in spec;
}

function validatedOf(document: WrittenResource, { checks, validated }: ContentOptions): Validated {
  let result = validated?.get(document);
  if (!result) {
    result = validate(document, checks);
    validated?.set(document, result);
  }
  return result;
}

function validate(document: WrittenResource, checks: readonly ResourceCheck[] | undefined): Validated {
  try {
    return validateWritten(document, checks);
  } catch (error) {
    const message = `cannot be checked: ${(error as Error).message}`;
    const issue: Problem = { code: 'UNREADABLE', severity: 'error', origin: document.origin, path: [], message };
    return { resource: undefined, issues: [issue] };
  }
}

/** The issue of each document that claims the same key as another. */
export function duplicateIssues(claims: readonly Claim[]): Problem[] {
  return claims.map(({ key, origin }, i) => {
    const { kind, namespace, name } = identityOfKey(key);
    const others = claims.filter((_, other) => other !== i).map((other) => formatOrigin(other.origin));
    const message = `${kind} ${namespace}/${name} is also written at ${others.join(' and ')}`;
    const hint = 'all are rejected until only one is left';
    return { code: 'DUPLICATE_RESOURCE', severity: 'error', origin, kind, namespace, name, path: [], message, hint };
  });
}

/** Compares positions by file, line and column. */
export function compareOrigins(a: Origin, b: Origin): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}
