import type { ClusterObject } from '../watch/cluster-object.ts';

/** What the API server asks about one request (`admission.k8s.io/v1`). */
export interface AdmissionRequest {
  readonly uid: string;
  readonly kind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly subResource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly operation: Operation;
  /** Who asks for the change. */
  readonly userInfo?: { readonly username?: string };
  /** The object after the request; missing for DELETE. */
  readonly object?: ClusterObject;
  /** The object before the request; missing for CREATE. */
  readonly oldObject?: ClusterObject;
}

const OPERATIONS = ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The decision about a request. */
export interface AdmissionVerdict {
  readonly allowed: boolean;
  /** For the user, one line each. */
  readonly warnings?: readonly string[];
  /** Number of further warnings. Default: 0. */
  readonly omittedWarnings?: number;
  /** Why the request is rejected. */
  readonly rejection?: Rejection;
}

export interface Rejection {
  readonly message: string;
  readonly causes: readonly RejectionCause[];
}

/** One reason, as in a `Status` of the API server. */
export interface RejectionCause {
  readonly field?: string;
  readonly message: string;
}

const REVIEW_VERSION = 'admission.k8s.io/v1';
const MAX_UID = 256;
/** The API server may cut longer warnings. */
const MAX_WARNING = 256;
/** The API server ignores warnings beyond 4096 characters in total, of all webhooks. */
const MAX_WARNINGS = 3_000;
const MAX_MESSAGE = 8_192;
const MAX_CAUSES = 50;

/** Returns the request in a review, or what is wrong with the review. */
export function readReview(text: string): AdmissionRequest | string {
  let review: unknown;
  try {
    review = JSON.parse(text);
  } catch {
    return 'the body must be JSON';
  }
  if (!isObject(review)) return 'the body must be an AdmissionReview';
  if (review['apiVersion'] !== REVIEW_VERSION || review['kind'] !== 'AdmissionReview')
    return `the body must be an AdmissionReview of ${REVIEW_VERSION}`;
  const { request } = review;
  if (!isObject(request)) return 'the review has no request';
  return problemOf(request) ?? (request as unknown as AdmissionRequest);
}

function problemOf({ uid, kind, operation, subResource, namespace, name, ...objects }: Record<string, unknown>) {
  if (typeof uid !== 'string' || uid === '' || uid.length > MAX_UID) return 'request.uid must be a text';
  if (!isObject(kind) || !['group', 'version', 'kind'].every((field) => typeof kind[field] === 'string'))
    return 'request.kind must have group, version and kind';
  if (!OPERATIONS.includes(operation as Operation)) return `request.operation must be one of ${OPERATIONS.join(', ')}`;
  if (![subResource, namespace, name].every((text) => text === undefined || typeof text === 'string'))
    return 'request.subResource, namespace and name must be texts';
  for (const field of ['object', 'oldObject']) {
    const object = objects[field];
    if (object === undefined || object === null) continue;
    if (!isClusterObject(object)) return `request.${field} must be an object with metadata`;
    if (object.kind !== kind['kind']) return `request.${field} must be of the kind in request.kind`;
    // The request for a Namespace is in that namespace, the object is in none.
    const within = object.metadata.namespace ?? (object.kind === 'Namespace' ? object.metadata.name : undefined);
    if (namespace !== undefined && within !== namespace)
      return `request.${field} must be in the namespace of the request`;
  }
  if (operation !== 'DELETE' && operation !== 'CONNECT' && !objects['object']) return 'request.object is missing';
  return undefined;
}

function isClusterObject(value: unknown): value is ClusterObject {
  if (!isObject(value) || !isObject(value['metadata'])) return false;
  const { name, namespace, annotations } = value['metadata'];
  const isText = (text: unknown): boolean => text === undefined || typeof text === 'string';
  return typeof name === 'string' && isText(namespace) && (annotations === undefined || isObject(annotations));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the review to respond with, within the limits of the API server. */
export function reviewOf({ uid, kind, name, object, oldObject }: AdmissionRequest, verdict: AdmissionVerdict): object {
  const { allowed, warnings = [], omittedWarnings = 0, rejection } = verdict;
  const details = {
    name: name || (object ?? oldObject)?.metadata.name,
    group: kind.group,
    kind: kind.kind,
    causes: rejection?.causes.slice(0, MAX_CAUSES).map(({ field, message }) => ({
      reason: 'FieldValueInvalid',
      message: shortened(message, MAX_MESSAGE / 8),
      ...(field && { field }),
    })),
  };
  const status = rejection && {
    status: 'Failure',
    code: 403,
    // Of an invalid object, kubectl would not print the message.
    reason: 'Forbidden',
    message: shortened(rejection.message, MAX_MESSAGE),
    details,
  };
  const shown = warningsWithin(warnings, omittedWarnings);
  return {
    apiVersion: REVIEW_VERSION,
    kind: 'AdmissionReview',
    response: { uid, allowed, ...(status && { status }), ...(shown.length > 0 && { warnings: shown }) },
  };
}

function warningsWithin(warnings: readonly string[], omitted: number): string[] {
  const shown: string[] = [];
  let length = 0;
  for (const warning of warnings) {
    const text = shortened(warning, MAX_WARNING);
    length += text.length;
    if (length > MAX_WARNINGS) break;
    shown.push(text);
  }
  const more = warnings.length - shown.length + omitted;
  return more > 0 ? [...shown, `and ${more} more problems; see the status of the resource`] : shown;
}

/** Returns a text as one line of at most `max` characters. */
function shortened(text: string, max: number): string {
  const line = text.replaceAll(/\s*[\n\r]\s*/g, ' ');
  // A cut inside of a surrogate pair is not valid UTF-8.
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line;
}
