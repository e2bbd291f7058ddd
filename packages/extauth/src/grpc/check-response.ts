import {
  toByteString,
  type AuthDecision,
  type AuthRequest,
  type HeaderChange,
  type QueryChange,
} from '@edge-gateway/core';
import { fromStruct } from '@edge-gateway/core/grpc';
import { isFraming } from '../chain/grants.ts';
import {
  ADD_IF_ABSENT,
  APPEND,
  INTENDED_SUCCESS,
  OVERWRITE,
  OVERWRITE_IF_EXISTS,
  type CheckResponse,
  type HeaderOption,
  type OkResponse,
} from './protocol.ts';

/**
 * Converts the response to a decision: status 0 allows, every other one rejects with the server's HTTP response or an empty 403. Its
 * `metadata` is all dynamic metadata of the response.
 */
export function decisionOf(answer: CheckResponse, request: AuthRequest, readHeaders = changesByAction): AuthDecision {
  const code = answer.status?.code ?? 0;
  const metadata = fromStruct(answer.okResponse?.dynamicMetadata ?? answer.dynamicMetadata ?? {});
  const told = Object.keys(metadata).length > 0 && { metadata };
  if (code !== 0 || answer.httpResponse === 'deniedResponse') {
    const { status, headers = [], body = '' } = answer.deniedResponse ?? {};
    const flat = headers.flatMap(({ header }) => headerOf(header) ?? []);
    const reason = `the auth server denied the request with code ${code}`;
    const isIntended = answer.status?.message === INTENDED_SUCCESS;
    return { allowed: false, status: validStatus(status?.code, isIntended), headers: flat, body, reason, ...told };
  }
  const { responseHeadersToAdd = [] } = answer.okResponse ?? {};
  return {
    allowed: true,
    requestChanges: answer.okResponse ? readHeaders(answer.okResponse, request) : [],
    responseChanges: responseHeadersToAdd.flatMap(responseChangeOf),
    queryChanges: queryChangesOf(answer.okResponse),
    ...told,
  };
}

/** Reads the changes of request headers by append actions; what is set is not removed. */
export function changesByAction({ headers, headersToRemove }: OkResponse, request: AuthRequest): HeaderChange[] {
  return [...removalsOf(headersToRemove), ...headers.flatMap((option) => changeOf(option, request))];
}

/**
 * Reads the changes of request headers as the filter of Envoy 1.40: it ignores append actions, `append` only adds to a header that exists,
 * and a header that is both set and removed is removed.
 */
export function changesByAppend({ headers, headersToRemove }: OkResponse, request: AuthRequest): HeaderChange[] {
  const changes = headers.flatMap(({ header, append }): Exclude<HeaderChange, { op: 'remove' }>[] => {
    const [name, value] = headerOf(header) ?? [];
    return name === undefined || value === undefined ? [] : [{ op: append?.value ? 'append' : 'set', name, value }];
  });
  const sets = changes.filter(({ op }) => op === 'set');
  const exists = (name: string) => request.header(name) !== undefined || sets.some((each) => each.name === name);
  const appends = changes.filter(({ op, name }) => op === 'append' && exists(name));
  return [...sets, ...appends, ...removalsOf(headersToRemove)];
}

function removalsOf(names: readonly string[]): HeaderChange[] {
  const lower = names.map((name) => name.toLowerCase());
  return lower.filter((name) => !isFraming(name)).map((name) => ({ op: 'remove', name }));
}

function queryChangesOf(answer: OkResponse | null | undefined): QueryChange[] {
  const { queryParametersToSet = [], queryParametersToRemove = [] } = answer ?? {};
  return [
    ...queryParametersToSet.map(({ key, value }): QueryChange => ({ op: 'set', name: key, value })),
    ...queryParametersToRemove.map((name): QueryChange => ({ op: 'remove', name })),
  ];
}

/** Clients would treat a rejection with a success status as success: only our own auth service can intend it. */
function validStatus(code: number | undefined, isSuccessIntended: boolean): number {
  return code !== undefined && code >= (isSuccessIntended ? 200 : 300) && code <= 599 ? code : 403;
}

/** Without `append` or an action the header replaces: that is the default of the protocol's filter. */
function changeOf({ header, append, appendAction = APPEND }: HeaderOption, request: AuthRequest): HeaderChange[] {
  const [name, value] = headerOf(header) ?? [];
  if (name === undefined || value === undefined) return [];
  const isThere = request.header(name) !== undefined;
  if (appendAction === ADD_IF_ABSENT && isThere) return [];
  if (appendAction === OVERWRITE_IF_EXISTS && !isThere) return [];
  return [{ op: append?.value ? 'append' : 'set', name, value }];
}

/** The response of the upstream is not known yet. Without `append` or an action the header is added. */
function responseChangeOf({ header, append, appendAction = APPEND }: HeaderOption): HeaderChange[] {
  const [name, value] = headerOf(header) ?? [];
  if (name === undefined || value === undefined) return [];
  if (append ? append.value : appendAction === APPEND) return [{ op: 'append', name, value }];
  if (append || appendAction === OVERWRITE) return [{ op: 'set', name, value }];
  return [{ op: 'set', name, value, where: appendAction === ADD_IF_ABSENT ? 'absent' : 'present' }];
}

/** Returns the name in lower case and the value of a header; `undefined` for one that no server may set. */
function headerOf(header: HeaderOption['header']): readonly [name: string, value: string] | undefined {
  const name = header?.key.toLowerCase() ?? '';
  if (!header || isFraming(name)) return undefined;
  const { value, rawValue } = header;
  return [name, value !== '' || !rawValue ? toByteString(value) : Buffer.from(rawValue).toString('latin1')];
}
