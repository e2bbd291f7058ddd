import { DEFAULT_NAMESPACE, type Metadata } from '../resource/resource.ts';
import { KINDS, type KindInfo } from '../schema/kinds.ts';
import { nearest } from '../syntax/did-you-mean.ts';
import type { DocumentReport } from './document-report.ts';

type Json = Readonly<Record<string, unknown>>;

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** Reads `apiVersion` and `kind`; returns `undefined` if the kind is unknown. */
export function readKind(value: Json, report: DocumentReport): KindInfo | undefined {
  const { kind, apiVersion } = value;
  if (typeof kind !== 'string') {
    if (kind === undefined || kind === null)
      report.add({ code: 'MISSING_FIELD', path: [], message: 'kind is missing' });
    else report.add({ code: 'WRONG_TYPE', path: ['kind'], message: 'kind must be text', on: 'value' });
    return undefined;
  }
  const info = KINDS.get(kind as never);
  if (!info) {
    const near = nearest(kind, KINDS.keys());
    const hint = near === undefined ? `known: ${[...KINDS.keys()].join(', ')}` : `did you mean ${near}?`;
    report.add({
      code: 'UNKNOWN_KIND',
      path: ['kind'],
      message: `unknown kind ${kind.slice(0, 80)}`,
      hint,
      on: 'value',
    });
    return undefined;
  }
  checkApiVersion(apiVersion, info, report);
  return info;
}

function checkApiVersion(apiVersion: unknown, { kind, apiVersions }: KindInfo, report: DocumentReport): void {
  const hint = apiVersions.join(' or ');
  if (apiVersion === undefined || apiVersion === null)
    report.add({ code: 'MISSING_FIELD', path: [], message: 'apiVersion is missing', hint });
  else if (!apiVersions.includes(apiVersion as string)) {
    const message = `unknown apiVersion ${String(apiVersion).slice(0, 80)} for ${kind}`;
    report.add({
      code: 'UNKNOWN_API_VERSION',
      path: ['apiVersion'],
      message,
      hint: `did you mean ${hint}?`,
      on: 'value',
    });
  }
}

/** Reads the used parts of `metadata`, frozen; returns `undefined` without a valid name. */
export function readMetadata(value: Json, report: DocumentReport): Metadata | undefined {
  const { metadata } = value;
  if (metadata === undefined || metadata === null) {
    report.add({ code: 'MISSING_FIELD', path: [], message: 'metadata.name is missing' });
    return undefined;
  }
  if (!isObject(metadata)) {
    report.add({ code: 'WRONG_TYPE', path: ['metadata'], message: 'must be an object', on: 'value' });
    return undefined;
  }
  const name = readName(metadata['name'], report);
  const namespace = readNamespace(metadata['namespace'], report);
  const labels = readTexts(metadata, 'labels', report);
  const annotations = readTexts(metadata, 'annotations', report);
  if (name === undefined || namespace === undefined) return undefined;
  return Object.freeze({ name, namespace, ...(labels && { labels }), ...(annotations && { annotations }) });
}

function readName(name: unknown, report: DocumentReport): string | undefined {
  if (name === undefined || name === null || name === '') {
    report.add({ code: 'MISSING_FIELD', path: ['metadata'], message: 'metadata.name is missing' });
    return undefined;
  }
  if (typeof name === 'string' && name.length <= 253 && SUBDOMAIN.test(name)) return name;
  const problem = typeof name === 'string' ? `"${name.slice(0, 80)}" is not a valid name` : 'a name must be text';
  const hint = 'lower case letters, digits, - and ., at most 253, e.g. my-service';
  report.add({
    code: typeof name === 'string' ? 'BAD_NAME' : 'WRONG_TYPE',
    path: ['metadata', 'name'],
    message: problem,
    hint,
    on: 'value',
  });
  return undefined;
}

function readNamespace(namespace: unknown, report: DocumentReport): string | undefined {
  if (namespace === undefined || namespace === null || namespace === '') return DEFAULT_NAMESPACE;
  if (typeof namespace === 'string' && namespace.length <= 63 && LABEL.test(namespace)) return namespace;
  const text = typeof namespace === 'string';
  const message = text ? `"${namespace.slice(0, 80)}" is not a valid namespace` : 'a namespace must be text';
  const hint = 'lower case letters, digits and -, at most 63';
  report.add({ code: text ? 'BAD_NAME' : 'WRONG_TYPE', path: ['metadata', 'namespace'], message, hint, on: 'value' });
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
    report.add({ code: 'WRONG_TYPE', path: ['metadata', field], message: 'must be an object of strings', on: 'value' });
    return undefined;
  }
  const written = Object.entries(value).filter(([, text]) => text !== null);
  for (const [key, text] of written) {
    if (typeof text === 'string') continue;
    const path = ['metadata', field, key];
    report.add({
      code: 'WRONG_TYPE',
      path,
      message: `must be text, is ${typeof text}`,
      hint: 'put it in quotes',
      on: 'value',
    });
  }
  return Object.freeze(Object.fromEntries(written)) as Readonly<Record<string, string>>;
}

/** Returns whether a value is an object, and not a list. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
