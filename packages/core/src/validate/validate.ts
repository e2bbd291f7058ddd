import { KINDS, type KindInfo } from '../schema/kinds.ts';
import type { FieldPath, Problem } from '../resource/problem.ts';
import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import { keyOf, type Kind, type Origin, type Resource, type ResourceKey } from '../resource/resource.ts';
import type { SecretSpec } from '../schema/kind/secret.ts';
import type { TextPlace } from '../parse/text-place.ts';
import type { WrittenResource } from '../source/source.ts';
import { isObject, readKind, readMetadata } from './resource-identity.ts';
import { nodeOf } from './types/node.ts';
import { normalise, writtenPath, type Content } from './types/normalise.ts';
import { DocumentReport } from './document-report.ts';
import { foldSecret } from './auth/check-secret.ts';
import type { ResourceCheck } from './check.ts';
import { suggest } from '../syntax/did-you-mean.ts';
import { placed } from './check.ts';
import { checkSemantics } from './semantics.ts';

/** The result of validating a document. */
export interface Validated {
  /** Frozen, with a normalised spec; `undefined` if one of the issues is an error. */
  readonly resource: Resource | undefined;
  /** The key of the resource, even if rejected; `undefined` if kind or name are unknown. */
  readonly key?: ResourceKey;
  /** Problems of parsing the document and of its validation. */
  readonly issues: readonly Problem[];
  /** Returns the original position of a field; missing if the content does not match its schema. */
  readonly locate?: (path: FieldPath) => Origin;
}

const FRAME = ['apiVersion', 'kind', 'metadata', 'status'] as const;

/**
 * Validates one document against the schema of its kind and normalises it: enums by name, keys in camelCase,
 * `stringData` merged, without defaults. Content that matches the schema is also checked for semantic problems,
 * also by `checks`. Pure; finds every problem with its position.
 *
 * @example
 * const { resource, issues } = validateWritten(parseDocuments(yaml, 'a.yaml')[0]!);
 */
export function validateWritten(written: WrittenResource, checks?: readonly ResourceCheck[]): Validated {
  const report = new DocumentReport(written);
  const { value } = written;
  if (value === undefined) return { resource: undefined, ...keyOfBroken(written), issues: report.issues };
  if (!isObject(value)) {
    report.add({ code: 'WRONG_TYPE', path: [], message: 'a resource must be an object' });
    return { resource: undefined, issues: report.issues };
  }
  report.subject = subjectOf(value);
  const info = readKind(value, report);
  const metadata = readMetadata(value, report);
  if (!info) return { resource: undefined, issues: report.issues };
  const content = readContent(info, value, report);
  if (!metadata) return { resource: undefined, issues: report.issues };
  const key = keyOf(info.kind, metadata);
  if (!report.keepsShape) return { resource: undefined, key, issues: report.issues };
  const { apiVersion } = value as { apiVersion: string };
  const resource = Object.freeze({ apiVersion, kind: info.kind, metadata, spec: content.spec, origin: written.origin });
  const locate = locatorOf(written, content.moves);
  const findings = checkSemantics(resource, checks).map((finding) => placed(finding, resource, locate));
  report.include(findings.filter(({ path }) => !report.hasErrorAt(path)));
  return { resource: report.failed ? undefined : resource, key, issues: report.issues, locate };
}

/** Does not capture the report: the returned function lives as long as the resource. */
function locatorOf({ locate }: WrittenResource, moves: Content['moves']) {
  if (moves.length === 0) return (path: FieldPath, on?: TextPlace): Origin => locate(path, on);
  return (path: FieldPath, on?: TextPlace): Origin => locate(writtenPath(moves, path), on);
}

function readContent(info: KindInfo, value: Readonly<Record<string, unknown>>, report: DocumentReport): Content {
  if (!info.body) {
    checkFrame(info, value, report);
    return normalise(info.schema, { written: specOf(value), at: ['spec'] }, report);
  }
  const body = Object.fromEntries(Object.entries(value).filter(([key]) => !FRAME.includes(key as never)));
  const content = normalise(info.schema, { written: body, at: [] }, report);
  if (info.kind !== 'Secret' || report.failed) return content;
  return { ...content, spec: foldSecret(content.spec as SecretSpec, report) };
}

/** Returns the written `spec` without the status that is stored in it. */
function specOf({ spec }: Readonly<Record<string, unknown>>): unknown {
  if (!isObject(spec)) return spec ?? {};
  const { namespacedStatuses: _, ...rest } = spec;
  return rest;
}

function checkFrame(info: KindInfo, value: Readonly<Record<string, unknown>>, report: DocumentReport): void {
  const known = [...FRAME, 'spec'];
  const node = nodeOf(info.schema);
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    if (node.type === 'object' && node.fields.has(key)) {
      report.add({
        code: 'MISPLACED_KEY',
        path: [key],
        message: `${key} does not belong here`,
        hint: 'it belongs in spec',
      });
    } else
      report.add({
        code: 'UNKNOWN_KEY',
        path: [key],
        message: `unknown key ${key.slice(0, 80)}`,
        hint: suggest(key, known),
      });
  }
}

function subjectOf({ kind, metadata }: Readonly<Record<string, unknown>>): DocumentReport['subject'] {
  const text = (key: string, value: unknown) => (typeof value === 'string' && value !== '' ? { [key]: value } : {});
  const { name, namespace } = isObject(metadata) ? metadata : {};
  const identity = { namespace: gatewayNamespace(), ...text('namespace', namespace), ...text('name', name) };
  return { ...text('kind', kind), ...identity };
}

/** Returns the identity of an unreadable document, if it is recognizable. */
function keyOfBroken({ issues }: WrittenResource): { key?: ResourceKey } {
  const { kind, namespace, name } = issues.find((issue) => issue.name !== undefined) ?? {};
  if (kind === undefined || name === undefined || namespace === undefined || !KINDS.has(kind as Kind)) return {};
  return { key: keyOf(kind as Kind, { name, namespace }) };
}
