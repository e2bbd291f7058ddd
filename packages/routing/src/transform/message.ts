import type { IncomingMessage } from 'node:http';
import { applyHeaderChanges, factsOf, type Facts } from '@edge-gateway/core';
import type { RequestView } from '../format/record.ts';

/** A request during its transformations, with the changes recorded so far. */
export class Message implements RequestView {
  readonly req: IncomingMessage;
  readonly facts: Facts;

  constructor(req: IncomingMessage) {
    this.req = req;
    this.facts = factsOf(req);
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

  /** First value of a header or pseudo header; empty when there is none. */
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

  get #taken(): readonly string[] {
    return this.facts.headers ?? this.req.rawHeaders;
  }
}

function firstOf(flat: readonly string[], lower: string): string | undefined {
  for (let i = 0; i < flat.length; i += 2) if (flat[i]!.toLowerCase() === lower) return flat[i + 1]!;
  return undefined;
}
