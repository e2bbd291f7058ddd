import { cutText, type FieldPath } from '../resource/problem.ts';
import { gatewayNamespace } from '../resource/gateway-namespace.ts';
import type { Metadata } from '../resource/resource.ts';
import { KINDS, type KindInfo } from '../schema/kinds.ts';
import { nearest } from '../syntax/did-you-mean.ts';
import type { DocumentReport } from './document-report.ts';

/** Characters of an unknown kind or version that are shown. */
const SHOWN = 80;

type Json = Readonly<Record<string, unknown>>;

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Reads `apiVersion` and `kind`; returns `undefined` if the kind is unknown. */
export function readKind(value: Json, report: DocumentReport): KindInfo | undefined {
  const { kind, apiVersion } = value;
  if (typeof kind !== 'string') {
    if (kind === undefined || kind === null) reportMissing(report, [], 'kind is missing');
    else reportType(report, ['kind'], 'kind must be text');
    return undefined;
  }
  const info = KINDS.get(kind as never);
  if (!info) {
    const near = nearest(kind, KINDS.keys());
    const hint = near === undefined ? `known: ${[...KINDS.keys()].join(', ')}` : `did you mean ${near}?`;
    const message = `unknown kind ${cutText(kind, SHOWN)}`;
    report.add({ code: 'UNKNOWN_KIND', path: ['kind'], message, hint, on: 'value' });
    return undefined;
  }
  checkApiVersion(apiVersion, info, report);
  return info;
}

function reportMissing(report: DocumentReport, path: FieldPath, message: string, hint?: string): void {
  report.add({ code: 'MISSING_FIELD', path, message, hint });
}

function reportType(report: DocumentReport, path: FieldPath, message: string, hint?: string): void {
  report.add({ code: 'WRONG_TYPE', path, message, hint, on: 'value' });
}

function checkApiVersion(apiVersion: unknown, { kind, apiVersions }: KindInfo, report: DocumentReport): void {
  const known = apiVersions.join(' or ');
  if (apiVersion === undefined || apiVersion === null) return reportMissing(report, [], 'apiVersion is missing', known);
  if (apiVersions.includes(apiVersion as string)) return;
  const message = `unknown apiVersion ${cutText(String(apiVersion), SHOWN)} for ${kind}`;
  const hint = `did you mean ${known}?`;
  report.add({ code: 'UNKNOWN_API_VERSION', path: ['apiVersion'], message, hint, on: 'value' });
}

/** Reads the used parts of `metadata`, frozen; returns `undefined` without a valid name. */
export function readMetadata(value: Json, report: DocumentReport): Metadata | undefined {
  const { metadata } = value;
  if (!isObject(metadata)) {
    if (metadata === undefined || metadata === null) reportMissing(report, [], 'metadata.name is missing');
    else reportType(report, ['metadata'], 'must be an object');
    return undefined;
  }
  const name = readName(metadata['name'], report);
  const namespace = readNamespace(metadata['namespace'], report);
  const labels = readTexts(metadata, 'labels', report);
  const annotations = readTexts(metadata, 'annotations', report);
  if (name === undefined || namespace === undefined) return undefined;
  const { creationTimestamp } = metadata;
  return Object.freeze({
    name,
    namespace,
    ...(labels && { labels }),
    ...(annotations && { annotations }),
    ...(typeof creationTimestamp === 'string' && { creationTimestamp }),
  });
}

function readName(name: unknown, report: DocumentReport): string | undefined {
  if (name === undefined || name === null || name === '') {
    reportMissing(report, ['metadata'], 'metadata.name is missing');
    return undefined;
  }
  if (typeof name === 'string' && name.length <= 253 && SUBDOMAIN.test(name)) return name;
  const hint = 'lower case letters, digits, - and ., at most 253, e.g. my-service';
  return reportName('name', name, { hint, report });
}

function readNamespace(namespace: unknown, report: DocumentReport): string | undefined {
  if (namespace === undefined || namespace === null || namespace === '') return gatewayNamespace();
  if (typeof namespace === 'string' && isNamespace(namespace)) return namespace;
  return reportName('namespace', namespace, { hint: 'lower case letters, digits and -, at most 63', report });
}

/** Returns true for a valid name of a namespace. */
export function isNamespace(name: string): boolean {
  return name.length <= 63 && LABEL.test(name);
}

function reportName(
  field: 'name' | 'namespace',
  value: unknown,
  { hint, report }: { hint: string; report: DocumentReport },
): undefined {
  const path = ['metadata', field];
  if (typeof value !== 'string') {
    reportType(report, path, `a ${field} must be text`, hint);
    return undefined;
  }
  const message = `"${value.slice(0, 80)}" is not a valid ${field}`;
  report.add({ code: 'BAD_NAME', path, message, hint, on: 'value' });
  return undefined;
}

function readTexts(
  metadata: Json,
  field: string,
  report: DocumentReport,
): Readonly<Record<string, string>> | undefined {
  const value = metadata[field];
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) {
    reportType(report, ['metadata', field], 'must be an object of strings');
    return undefined;
  }
  const written = Object.entries(value).filter(([, text]) => text !== null);
  for (const [key, text] of written) {
    if (typeof text === 'string') continue;
    reportType(report, ['metadata', field, key], `must be text, got a ${typeof text}`, 'put it in quotes');
  }
  return Object.freeze(Object.fromEntries(written)) as Readonly<Record<string, string>>;
}

/** Returns whether a value is an object, and not a list. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
