import { ExactNumber } from '@edge-gateway/core';
import type { Limits } from '../document/limits.ts';
import { tooLarge } from '../errors/failed-result.ts';
import { FieldFailure } from '../errors/field-failure.ts';

/** Ends a whole execution: its result has no data, because no nullable field contains this failure. */
export class ExecutionStopped extends FieldFailure {}

export type ResultLimits = Pick<Limits, 'maxResultFields' | 'maxResultBytes'>;

/** Counts the fields and bytes of one result while it is completed. Text counts its characters, and escapes nothing. */
export class ResultSize {
  readonly #maxFields: number;
  readonly #maxBytes: number;
  #fields = 0;
  #bytes = 0;

  constructor({ maxResultFields, maxResultBytes }: ResultLimits) {
    this.#maxFields = maxResultFields || Number.POSITIVE_INFINITY;
    this.#maxBytes = maxResultBytes || Number.POSITIVE_INFINITY;
  }

  /** Throws `ExecutionStopped` if the result is larger than allowed. */
  add(fields: number, bytes: number): void {
    this.#fields += fields;
    this.#bytes += bytes;
    this.check();
  }

  /** Throws `ExecutionStopped` if the result is larger than allowed, or would be with more items. */
  check(items = 0): void {
    if (this.#fields + items > this.#maxFields) {
      throw stopped(`The result has more than ${this.#maxFields} fields and list items.`);
    }
    if (this.#bytes > this.#maxBytes) throw stopped(tooLarge(this.#maxBytes));
  }

  /** Adds JSON, such as the value of a custom scalar. */
  addJson(value: unknown): void {
    if (typeof value === 'string') return this.add(0, value.length);
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof ExactNumber) return this.add(0, value.text.length);
    for (const [key, inner] of Object.entries(value)) {
      this.add(1, Array.isArray(value) ? 2 : key.length + 4);
      this.addJson(inner);
    }
  }
}

function stopped(shown: string): ExecutionStopped {
  return new ExecutionStopped(shown, { code: 'ERR_GRAPHQL_LIMIT', shown });
}
