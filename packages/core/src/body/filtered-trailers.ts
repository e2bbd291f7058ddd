import type { ServerResponse } from 'node:http';
import type { ResponseFilter } from '../contract/response-filter.ts';

/** What `addTrailers` accepts: fields by name, or pairs. */
type Trailers = Parameters<ServerResponse['addTrailers']>[0];

/** The trailers of a filtered response: they are kept until its body has ended. */
export class FilteredTrailers {
  readonly #send: (trailers: Trailers) => void;
  readonly #added: Trailers[] = [];

  /** `send` adds trailers to the response that is sent. */
  constructor(send: (trailers: Trailers) => void) {
    this.#send = send;
  }

  get isEmpty(): boolean {
    return this.#added.length === 0;
  }

  get flat(): readonly string[] {
    return this.#added.flatMap(flatOf);
  }

  add(trailers: Trailers): void {
    this.#added.push(trailers);
  }

  /** Adds them unchanged. */
  pass(): void {
    for (const trailers of this.#added.splice(0)) this.#send(trailers);
  }

  /** Adds what the filters make of them. Returns the flat list; `undefined` without trailers or without filters for them. */
  async filter(filters: readonly ResponseFilter[]): Promise<readonly string[] | undefined> {
    const changing = filters.filter(({ onTrailers }) => onTrailers);
    if (changing.length === 0) this.pass();
    if (this.#added.length === 0) return undefined;
    let flat: readonly string[] = this.#added.splice(0).flatMap(flatOf);
    // oxlint-disable-next-line no-await-in-loop -- a filter sees the changes of the previous ones
    for (const filter of changing) flat = await filter.onTrailers!(flat);
    this.#send(byName(flat));
    return flat;
  }
}

function flatOf(trailers: Trailers): string[] {
  const pairs = Array.isArray(trailers) ? trailers : Object.entries(trailers);
  return (pairs as [string, string | readonly string[]][]).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name, String(value)]),
  );
}

function byName(flat: readonly string[]): Record<string, string[]> {
  const fields: Record<string, string[]> = Object.create(null);
  for (let i = 0; i < flat.length; i += 2) (fields[flat[i]!.toLowerCase()] ??= []).push(flat[i + 1]!);
  return fields;
}
