import {
  formatIssue,
  formatPath,
  redactText,
  type ChangePreview,
  type Kind,
  type Problem,
  type SourceChange,
} from '@edge-gateway/core';
import type { ValidationSettings } from '@edge-gateway/core/schema';
import { objectKey, type ClusterObject } from '../watch/cluster-object.ts';
import { kindInGroup } from '../source/cluster-kinds.ts';
import { sourceKeyOf, writtenObject } from '../source/written-object.ts';
import type { AdmissionRequest, AdmissionVerdict, Rejection } from './admission-review.ts';
import { emptiesNamespace, isNamespaceRequest, namespaceRemoval, type ReadNamespaces } from './namespace-removal.ts';

/** What requests are validated against. */
export interface AdmissionTarget {
  /** The Settings in use; `undefined` if nothing is to be validated. */
  settings(): ValidationSettings | undefined;
  isWatched(namespace: string): boolean;
  /** Missing: Namespaces are not validated. */
  readonly namespaces?: ReadNamespaces;
  /** Resolves with `undefined` if the control plane cannot tell. */
  preview(change: SourceChange): Promise<ChangePreview | undefined>;
}

/** The outcome of a review. */
export type AdmissionOutcome = 'skipped' | 'allowed' | 'rejected';

export interface Admission extends AdmissionVerdict {
  readonly outcome: AdmissionOutcome;
}

/** The control plane has no state to compare with: the failure policy of the webhook decides. */
export class NotReadyError extends Error {}

const SKIP_ANNOTATION = 'gateway.vendor.io/skip_validation';
/** Settings can always be changed, so that validation can be switched off. Proxies are written by the gateway, and ConfigMaps have no schema. */
const NOT_VALIDATED: ReadonlySet<Kind> = new Set<Kind>(['Settings', 'Proxy', 'ConfigMap']);
/** Problems with which an object cannot be read at all: it is rejected whatever the Settings say. */
const UNREADABLE: ReadonlySet<string> = new Set([
  'BAD_KEY',
  'NESTING_TOO_DEEP',
  'NOT_AN_OBJECT',
  'UNKNOWN_API_VERSION',
  'UNKNOWN_KEY',
  'UNREADABLE',
  'WRONG_TYPE',
]);
const SKIPPED: Admission = { outcome: 'skipped', allowed: true };
/** Problems of a review that are written as text; the others are counted. One object can have many thousands. */
const MAX_TEXTS = 50;

/** Decides about a request by the problems that it would cause. Rejects with {@link NotReadyError}. */
export async function validateAdmission(request: AdmissionRequest, target: AdmissionTarget): Promise<Admission> {
  const settings = target.settings();
  if (!settings || settings.serverEnabled === false) return SKIPPED;
  const change = changeOf(request, target, settings);
  if (!change) return SKIPPED;
  const preview = await target.preview(change);
  if (!preview) throw new NotReadyError('the control plane has not loaded a configuration yet');
  return decide(request, preview, settings);
}

/** Returns what the request changes for the control plane; `undefined` if it changes nothing. */
function changeOf(
  request: AdmissionRequest,
  { isWatched, namespaces }: AdmissionTarget,
  { allowSkipValidation = false }: ValidationSettings,
): SourceChange | undefined {
  const isSkipped = (of: ClusterObject | undefined): boolean => allowSkipValidation && asksToSkip(of);
  if (isNamespaceRequest(request)) {
    const isChecked = namespaces && !isSkipped(request.object ?? request.oldObject);
    return isChecked ? namespaceRemoval(request, namespaces) : undefined;
  }
  if (emptiesNamespace(request)) return undefined;
  const {
    kind: { kind: name, group },
    subResource,
    operation,
    object,
    oldObject,
  } = request;
  const known = kindInGroup(name, group);
  if (!known || NOT_VALIDATED.has(known.kind) || subResource || operation === 'CONNECT') return undefined;
  const { kind, type } = known;
  // The values of a Secret are not validated: it may be complete only after several changes.
  if (kind === 'Secret' && operation !== 'DELETE') return undefined;
  const subject = object ?? oldObject ?? identityOf(request);
  if (!subject || !isWatched(subject.metadata.namespace ?? '') || isSkipped(subject)) return undefined;
  const unit = sourceKeyOf(kind, objectKey(subject.metadata), type);
  if (operation === 'DELETE') return new Map([[unit, []]]);
  // An object that is being deleted only loses its finalizers.
  if (object!.metadata.deletionTimestamp) return undefined;
  const written = writtenObject(kind, object!, type);
  if (oldObject && writtenObject(kind, oldObject, type).digest === written.digest) return undefined;
  return new Map([[unit, written.written]]);
}

function identityOf({ name, namespace }: AdmissionRequest): ClusterObject | undefined {
  return name ? { metadata: { name, ...(namespace && { namespace }) } } : undefined;
}

function asksToSkip(object: ClusterObject | undefined): boolean {
  return object?.metadata.annotations?.[SKIP_ANNOTATION] === 'true';
}

function decide(request: AdmissionRequest, preview: ChangePreview, settings: ValidationSettings): Admission {
  const { alwaysAccept = true, allowWarnings = true } = settings;
  const { added, kept } = preview;
  const isRejected = (problem: Problem): boolean =>
    UNREADABLE.has(problem.code) && problem.severity === 'error'
      ? true
      : !alwaysAccept && (problem.severity === 'error' || !allowWarnings);
  const rejected = added.filter(isRejected);
  const others = [...added.filter((problem) => !isRejected(problem)), ...kept];
  const warnings = textsOf(others);
  const omittedWarnings = others.length - warnings.length;
  const tolerated = { warnings, ...(omittedWarnings > 0 && { omittedWarnings }) };
  if (rejected.length === 0) return { outcome: 'allowed', allowed: true, ...tolerated };
  return { outcome: 'rejected', allowed: false, ...tolerated, rejection: rejectionOf(request, rejected) };
}

function rejectionOf({ operation }: AdmissionRequest, problems: readonly Problem[]): Rejection {
  const what = operation === 'DELETE' ? 'deletion ' : '';
  const texts = textsOf(problems);
  const more = problems.length - texts.length;
  const all = more > 0 ? [...texts, `and ${more} more problems`] : texts;
  return {
    message: `${what}incompatible with current gateway snapshot: [${all.join('; ')}]`,
    causes: texts.map((message, i) => ({ field: redactText(formatPath(problems[i]!.path)), message })),
  };
}

/** Returns the first problems as texts. */
function textsOf(problems: readonly Problem[]): string[] {
  return problems.slice(0, MAX_TEXTS).map(textOf);
}

function textOf(problem: Problem): string {
  return redactText(formatIssue(problem));
}
