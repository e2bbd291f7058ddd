import { parseDocuments, type CallUpstream, type ResourceRef } from '@edge-gateway/core';
import type { ServiceSpec } from '@edge-gateway/core/schema';
import { bodyText } from '../../resolvers/body-text.ts';
import { MAX_SCHEMA_BYTES } from '../../remote/introspect.ts';
import { pathOf } from '../../remote/server-path.ts';

export const OPENAPI_PATHS: readonly string[] = [
  '/openapi.json',
  '/openapi.yaml',
  '/openapi.yml',
  '/v3/api-docs',
  '/v3/api-docs.yaml',
  '/swagger.json',
  '/swagger.yaml',
  '/swagger.yml',
  '/swagger/v1/swagger.json',
  '/swagger/docs/v1',
  '/swagger/docs/v2',
  '/v1/swagger',
  '/v2/swagger',
];
const TIMEOUT_MS = 5000;
const MAX_FAILURES = 2;
/** Matches a line of an OpenAPI document, so that HTML pages are not parsed as YAML. */
const OPENAPI_KEY = /^["']?(openapi|swagger)["']?\s*:/m;

/** Receives why the document at a path cannot be used. */
export type ReportPath = (path: string, reason: string) => void;

/** The place of a document in its upstream, for reports. */
const INLINE = 'serviceSpec.rest.swaggerInfo.inline';

/**
 * Returns the OpenAPI document that an upstream contains (`serviceSpec.rest.swaggerInfo.inline`), or requests it, at the usual paths or at
 * `serviceSpec.rest.swaggerInfo.url`. Invalid documents
 * are reported and skipped; the search ends after two failures. `undefined` if there is none.
 */
export async function findDocument(
  upstream: { readonly ref: ResourceRef; readonly serviceSpec: ServiceSpec | undefined },
  callUpstream: CallUpstream,
  reportPath: ReportPath,
): Promise<object | undefined> {
  const { inline, url } = upstream.serviceSpec?.rest?.swaggerInfo ?? {};
  if (inline) return inlineDocument(inline, reportPath);
  const named = pathOf(url);
  let failures = 0;
  for (const path of named === undefined ? OPENAPI_PATHS : [named]) {
    try {
      const document = readDocument(await textAt(upstream.ref, path, callUpstream), path);
      if (document) return document;
    } catch (error) {
      reportPath(path, (error as Error).message);
      if (!(error instanceof SyntaxError) && ++failures === MAX_FAILURES) return undefined;
    }
  }
  return undefined;
}

function inlineDocument(text: string, reportPath: ReportPath): object | undefined {
  try {
    const document = readDocument(text, INLINE);
    if (!document) reportPath(INLINE, 'neither an OpenAPI 3 nor a Swagger 2.0 document');
    return document;
  } catch (error) {
    reportPath(INLINE, (error as Error).message);
    return undefined;
  }
}

async function textAt(ref: ResourceRef, path: string, callUpstream: CallUpstream): Promise<string> {
  const answer = await callUpstream(ref, {
    method: 'GET',
    path,
    headers: ['accept', 'application/json, application/yaml;q=0.9, */*;q=0.1', 'accept-encoding', 'identity'],
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_SCHEMA_BYTES,
  });
  return answer.status === 200 ? bodyText(answer, MAX_SCHEMA_BYTES) : '';
}

/** Parses an OpenAPI or Swagger document; `undefined` for any other text. Throws a `SyntaxError` for an invalid one. */
function readDocument(text: string, path: string): object | undefined {
  const value = fromJson(text) ?? (OPENAPI_KEY.test(text) ? fromYaml(text, path) : undefined);
  const { openapi, swagger } = (value ?? {}) as { readonly openapi?: unknown; readonly swagger?: unknown };
  return typeof openapi === 'string' || swagger === '2.0' ? (value as object) : undefined;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function fromYaml(text: string, path: string): unknown {
  const [document] = parseDocuments(text, `${path}.yaml`);
  const problem = document?.issues.find(({ severity }) => severity === 'error');
  if (!problem) return document?.value;
  throw new SyntaxError(`line ${problem.origin.line}, column ${problem.origin.column}: ${problem.message}`);
}
