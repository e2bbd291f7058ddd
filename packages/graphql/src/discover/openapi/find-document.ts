import { parseDocuments, type CallUpstream, type ResourceRef } from '@edge-gateway/core';
import type { ServiceSpec } from '@edge-gateway/core/schema';
import { MAX_SCHEMA_BYTES } from '../../remote/introspect.ts';
import { pathOf } from '../../remote/server-path.ts';

/** Where servers keep their OpenAPI documents, in JSON or YAML. */
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
/** Requests that fail before a server is left alone. */
const MOST_FAILURES = 2;
/** What a document has on a line of its own; so pages of HTML are not taken for YAML. */
const OPENAPI_KEY = /^["']?openapi["']?\s*:/m;

/** Says why the document at a path cannot be used. */
export type TellPath = (path: string, reason: string) => void;

/**
 * Asks an upstream for its OpenAPI document, at the usual paths or where `serviceSpec.rest.swaggerInfo.url` says. What cannot be
 * used is told and skipped; a server that fails twice is asked no further. `undefined` when there is none.
 */
export async function findDocument(
  upstream: { readonly ref: ResourceRef; readonly serviceSpec: ServiceSpec | undefined },
  callUpstream: CallUpstream,
  tell: TellPath,
): Promise<object | undefined> {
  const named = pathOf(upstream.serviceSpec?.rest?.swaggerInfo?.url);
  let failures = 0;
  for (const path of named === undefined ? OPENAPI_PATHS : [named]) {
    try {
      const document = readDocument(await textAt(upstream.ref, path, callUpstream), path);
      if (document) return document;
    } catch (error) {
      tell(path, (error as Error).message);
      if (!(error instanceof SyntaxError) && ++failures === MOST_FAILURES) return undefined;
    }
  }
  return undefined;
}

async function textAt(ref: ResourceRef, path: string, callUpstream: CallUpstream): Promise<string> {
  const { status, body } = await callUpstream(ref, {
    method: 'GET',
    path,
    headers: ['accept', 'application/json, application/yaml;q=0.9, */*;q=0.1'],
    timeoutMs: TIMEOUT_MS,
    maxBodyBytes: MAX_SCHEMA_BYTES,
  });
  return status === 200 ? body.toString('utf8') : '';
}

/** An OpenAPI document of version 3; `undefined` for any other text. Throws a `SyntaxError` for one that cannot be read. */
function readDocument(text: string, path: string): object | undefined {
  const value = fromJson(text) ?? (OPENAPI_KEY.test(text) ? fromYaml(text, path) : undefined);
  const { openapi } = (value ?? {}) as { readonly openapi?: unknown };
  return typeof openapi === 'string' ? (value as object) : undefined;
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
