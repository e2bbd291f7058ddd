import { parseJson, type UpstreamResponse } from '@edge-gateway/core';
import { bodyText } from '../resolvers/body-text.ts';
import type { ApiResult, ResultError } from '../execute/executable-api.ts';
import { FieldFailure } from '../errors/field-failure.ts';
import { isRecord, isTextDeeper, MAX_RESULT_DEPTH } from '../document/json.ts';

/** Reads a response with `data` or `errors`, of any status. Throws a `FieldFailure` for everything else. */
export function readRemoteAnswer(
  upstream: string,
  { status, ...answer }: UpstreamResponse,
  maxBytes: number,
): ApiResult {
  const parsed = parse(answer, maxBytes);
  if (isResult(parsed)) return resultOf(parsed);
  if (status < 200 || status > 299) throw new FieldFailure(`${upstream} returned status ${status}`);
  throw new FieldFailure(`${upstream} returned a response that is not a GraphQL result`);
}

function parse(answer: Pick<UpstreamResponse, 'headers' | 'body'>, maxBytes: number): unknown {
  try {
    const text = bodyText(answer, maxBytes);
    return isTextDeeper(text, MAX_RESULT_DEPTH) ? undefined : parseJson(text);
  } catch {
    return undefined;
  }
}

/** Reads one result of a stream. Throws a `FieldFailure` if it is invalid. */
export function readResult(value: unknown): ApiResult {
  if (isResult(value)) return resultOf(value);
  throw new FieldFailure('an event is not a GraphQL result');
}

function isResult(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const { data, errors } = value;
  const hasErrors = Array.isArray(errors) && errors.length > 0;
  if (errors !== undefined && errors !== null && !Array.isArray(errors)) return false;
  return isRecord(data) || (hasErrors && (data === null || data === undefined));
}

/** Returns a result without unknown keys. */
export function resultOf({ data, errors, extensions }: Readonly<Record<string, unknown>>): ApiResult {
  return {
    ...(data !== undefined && { data }),
    ...(Array.isArray(errors) && errors.length > 0 && { errors: errors.map(errorOf) }),
    ...(isRecord(extensions) && { extensions }),
  };
}

function errorOf(error: unknown): ResultError {
  const { message, path, locations, extensions } = isRecord(error) ? error : {};
  return {
    message: typeof message === 'string' ? message : 'The server returned an error without a message.',
    ...(Array.isArray(path) && { path: path as ResultError['path'] }),
    ...(Array.isArray(locations) && { locations: locations as ResultError['locations'] }),
    ...(isRecord(extensions) && { extensions }),
  };
}
