import { buildSchema } from 'graphql';
import type { ResourceRef } from '@edge-gateway/core';
import type { Resolution } from '@edge-gateway/core/schema';
import type { Discovery, DiscoveryBounds, Skipped } from './discovered-api.ts';
import { toTypeName, uniqueNames } from './names.ts';

export interface FieldText {
  readonly name: string;
  readonly type: string;
  readonly args?: readonly { readonly name: string; readonly type: string }[];
  readonly description?: string | undefined;
  /** Name of the resolution behind the field. */
  readonly resolve?: string;
}

export type Side = 'output' | 'input';

const BUILT_IN = ['String', 'Int', 'Float', 'Boolean', 'ID', 'JSON', 'Query', 'Mutation', 'Subscription'];

/** A local API that is being created from the description of an upstream, within bounds. */
export class ApiDraft {
  readonly upstream: ResourceRef;
  readonly skipped: Skipped[] = [];
  readonly #bounds: DiscoveryBounds;
  readonly #blocks: string[] = [];
  readonly #typeName = uniqueNames(BUILT_IN);
  readonly #fieldName = { Query: uniqueNames(), Mutation: uniqueNames() };
  readonly #fields: Record<'Query' | 'Mutation', FieldText[]> = { Query: [], Mutation: [] };
  readonly #resolutions: Record<string, Resolution> = {};
  #fieldsTaken = 0;
  #isTruncated = false;
  #usesJson = false;

  constructor({ name, namespace }: ResourceRef, bounds: DiscoveryBounds) {
    this.upstream = { name, namespace };
    this.#bounds = bounds;
  }

  /** Returns a unique type name for any text. */
  typeName(text: string, side: Side): string {
    return this.#typeName(`${toTypeName(text) || 'Value'}${side === 'input' ? 'Input' : ''}`);
  }

  /** Adds an object type, or an input type. Definitions stay in the order in which they are added. */
  type(side: Side, name: string, fields: readonly FieldText[], description?: string): void {
    const keyword = side === 'input' ? 'input' : 'type';
    this.#blocks.push(`${described(description, '')}${keyword} ${name} {\n${fields.map(fieldText).join('')}}\n`);
  }

  enumeration(name: string, values: readonly string[]): void {
    this.#blocks.push(`enum ${name} {\n${values.map((value) => `  ${value}\n`).join('')}}\n`);
  }

  /** Returns the name of the scalar for values that GraphQL cannot express. */
  json(): string {
    this.#usesJson = true;
    return 'JSON';
  }

  /** Returns the first operations; reports the rest as skipped. */
  firstOf<T>(all: readonly T[], where: string): readonly T[] {
    const max = this.#bounds.operations;
    if (all.length <= max) return all;
    const reason = `there are ${all.length} operations; the first ${max} are offered`;
    this.skipped.push({ where, reason, isCut: true });
    return all.slice(0, max);
  }

  /** Reserves fields. Returns false if the limit is exceeded, which is reported once. */
  takeFields(amount: number, where: string): boolean {
    const { fields } = this.#bounds;
    if (this.#fieldsTaken + amount <= fields) {
      this.#fieldsTaken += amount;
      return true;
    }
    const reason = `all types together would have more than ${fields} fields; from here on they are JSON`;
    if (!this.#isTruncated) this.skipped.push({ where, reason, isCut: true });
    this.#isTruncated = true;
    return false;
  }

  /** Adds a field of the operation type, and its resolver. */
  addOperation(root: 'Query' | 'Mutation', field: FieldText, resolution: Resolution): void {
    const name = this.#fieldName[root](field.name);
    const resolve = `${root}|${name}`;
    this.#fields[root].push({ ...field, name, resolve });
    this.#resolutions[resolve] = resolution;
  }

  /** Returns the API. Throws an `Error` with the reason `empty` if it has no operation, or if its schema is invalid. */
  finish(empty: string): NonNullable<Discovery['spec']['executableSchema']> {
    if (Object.keys(this.#resolutions).length === 0) throw new Error(empty);
    const { Query, Mutation } = this.#fields;
    // GraphQL requires a query: if all operations are mutations, one returns the name of the upstream.
    if (Query.length === 0) {
      const resolution = { mockResolver: { syncResponse: this.upstream.name } };
      this.addOperation('Query', { name: 'upstreamName', type: 'String' }, resolution);
    }
    this.type('output', 'Query', Query);
    if (Mutation.length > 0) this.type('output', 'Mutation', Mutation);
    if (this.#usesJson) this.#blocks.push('scalar JSON\n');
    const schemaDefinition = this.#blocks.join('\n');
    buildSchema(`directive @resolve(name: String) on FIELD_DEFINITION\n${schemaDefinition}`);
    return { schemaDefinition, executor: { local: { enableIntrospection: true, resolutions: this.#resolutions } } };
  }
}

function fieldText({ name, type, args = [], description, resolve }: FieldText): string {
  const listed = args.map((arg) => `${arg.name}: ${arg.type}`).join(', ');
  const directive = resolve === undefined ? '' : ` @resolve(name: ${JSON.stringify(resolve)})`;
  return `${described(description, '  ')}  ${name}${listed && `(${listed})`}: ${type}${directive}\n`;
}

function described(description: string | undefined, indent: string): string {
  const line = description
    ?.replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line ? `${indent}${JSON.stringify(line.length > 200 ? `${line.slice(0, 199)}…` : line)}\n` : '';
}
