import { METHODS, type IncomingMessage } from 'node:http';
import {
  applyHeaderChanges,
  factsOf,
  isHost,
  type Facts,
  type HeaderChange,
  type TunnelHead,
} from '@edge-gateway/core';
import type { RequestView } from '../format/record.ts';
import { DEFAULT_PATH_SETTINGS, canonicalPath, hidesDotSegment } from '../route/match/canonical-path.ts';
import { badRequest } from './head-change.ts';

/** The head of a request or response during its transformations. Names of headers are lower case. */
export interface Message {
  readonly facts: Facts;
  readonly request: RequestMessage;
  /** False if the message can have no body, e.g. the response to HEAD. */
  readonly hasBody: boolean;
  /** Flat, with the changes so far. */
  readonly headers: readonly string[];
  /** Returns the first value of a header or pseudo header; empty if there is none. */
  first(name: string): string;
  /** Sets a header or pseudo header to one value; an empty one removes a header. */
  set(name: string, value: string): void;
  append(name: string, value: string): void;
  remove(name: string): void;
}

/** Methods that change what the response or the connection is. */
const FIXED_METHODS: ReadonlySet<string> = new Set(['CONNECT', 'TRACE']);

/** A request during its transformations, with the changes recorded so far. */
export class RequestMessage implements Message, RequestView {
  readonly req: IncomingMessage;
  readonly facts: Facts;
  readonly hasBody = true;

  constructor(req: IncomingMessage) {
    this.req = req;
    this.facts = factsOf(req);
  }

  get request(): RequestMessage {
    return this;
  }

  get method(): string {
    return this.facts.method;
  }

  get authority(): string {
    return this.facts.header('host') ?? '';
  }

  get path(): string {
    return this.facts.path;
  }

  get pathname(): string {
    return this.path.split('?', 1)[0]!;
  }

  get headers(): readonly string[] {
    return applyHeaderChanges(this.#taken, this.facts.requestChanges);
  }

  first(name: string): string {
    const lower = name.toLowerCase();
    if (lower === ':path') return this.path;
    if (lower === ':method') return this.method;
    if (lower === ':authority') return this.authority;
    if (lower === ':scheme') return this.first('x-forwarded-proto');
    let value = firstOf(this.#taken, lower);
    for (const change of this.facts.requestChanges) {
      if (change.name !== lower) continue;
      if (change.op === 'remove') value = undefined;
      else if (change.op === 'set') value = change.value;
      else value ??= change.value;
    }
    return value ?? '';
  }

  set(name: string, value: string): void {
    if (name === ':path') this.#setPath(value);
    else if (name === ':method') this.#setMethod(value);
    else if (name === ':authority' || name === 'host') this.#setAuthority(value);
    else if (value === '') this.remove(name);
    else this.#record({ op: 'set', name, value });
  }

  append(name: string, value: string): void {
    this.#record({ op: 'append', name, value });
  }

  remove(name: string): void {
    this.#record({ op: 'remove', name });
  }

  get #taken(): readonly string[] {
    return this.facts.headers ?? this.req.rawHeaders;
  }

  #record(change: HeaderChange): void {
    this.facts.requestChanges.push(change);
  }

  /** Rejects dot segments and a leading `//`: a client value must not escape the path of the template. */
  #setPath(value: string): void {
    const canonical = canonicalPath(value, DEFAULT_PATH_SETTINGS);
    const rejected =
      !('path' in canonical) || canonical.path.startsWith('//') || hidesDotSegment(value.split('?', 1)[0]!);
    if (rejected) throw badRequest('the new :path is not canonical');
    this.facts.path = canonical.path;
  }

  #setMethod(value: string): void {
    if (!METHODS.includes(value) || FIXED_METHODS.has(value)) throw badRequest('the new :method is not allowed');
    // The client of another request would wait for the body that a response to HEAD only announces.
    if (value === 'HEAD' && this.req.method !== 'HEAD') throw badRequest('the new :method is HEAD');
    this.facts.method = value;
  }

  #setAuthority(value: string): void {
    if (value === '' || !isHost(value)) throw badRequest('the new :authority is not a host');
    this.#record({ op: 'set', name: 'host', value });
  }
}

/** A response during its transformations. */
export class ResponseMessage implements Message {
  readonly request: RequestMessage;
  readonly #head: TunnelHead;

  constructor(head: TunnelHead, request: RequestMessage) {
    this.#head = head;
    this.request = request;
  }

  get facts(): Facts {
    return this.request.facts;
  }

  get hasBody(): boolean {
    return this.#head.hasBody;
  }

  get headers(): readonly string[] {
    return this.#head.headers;
  }

  first(name: string): string {
    const lower = name.toLowerCase();
    if (lower === ':status') return String(this.#head.status);
    return firstOf(this.#head.headers, lower) ?? '';
  }

  set(name: string, value: string): void {
    if (name === ':status') this.#setStatus(value);
    else this.#change(value === '' ? { op: 'remove', name } : { op: 'set', name, value });
  }

  append(name: string, value: string): void {
    this.#change({ op: 'append', name, value });
  }

  remove(name: string): void {
    this.#change({ op: 'remove', name });
  }

  #change(change: HeaderChange): void {
    this.#head.headers = applyHeaderChanges(this.#head.headers, [change]);
  }

  #setStatus(value: string): void {
    if (!/^[2-5]\d\d$/.test(value)) throw badRequest('the new :status is not a number from 200 to 599');
    this.#head.status = Number(value);
  }
}

function firstOf(flat: readonly string[], lower: string): string | undefined {
  for (let i = 0; i < flat.length; i += 2) if (flat[i]!.toLowerCase() === lower) return flat[i + 1]!;
  return undefined;
}
