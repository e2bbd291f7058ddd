import type { Request } from 'express';
import type { EndpointResponse } from './endpoint-response.ts';

/** A query parameter, for the index page. */
export interface Parameter {
  readonly name: string;
  readonly help: string;
  /** Allowed values. Default: any text. */
  readonly values?: readonly string[];
  /** True if it counts without a value. */
  readonly flag?: boolean;
}

/** One path of an admin port. */
export interface Endpoint {
  /** Several if one page has more than one address; the first is listed. */
  readonly paths: readonly [string, ...string[]];
  readonly help: string;
  readonly parameters?: readonly Parameter[];
  /** Returns true if a request changes something, and so needs POST. Default: never. */
  changes?(parameters: URLSearchParams): boolean;
  /** True if the home page asks for confirmation before it sends the form. Default false. */
  readonly disruptive?: boolean;
  /** True if its form uses POST although it changes nothing, e.g. because the form may contain credentials. Default false. */
  readonly readsForms?: boolean;
  /** `parameters` are those of the query and of a form in the body. */
  respond(parameters: URLSearchParams, req: Request): EndpointResponse | Promise<EndpointResponse>;
  /** Responds to PUT; `body` is the parsed JSON body. */
  put?(body: unknown): EndpointResponse;
}

/** Returns true for a parameter that is given, even without a value, and is not switched off. */
export function isOn(parameters: URLSearchParams, name: string): boolean {
  const value = parameters.get(name);
  return value !== null && !['false', 'off', '0', 'no'].includes(value.toLowerCase());
}

/** Returns endpoints in the order of their first paths. */
export function byPath(endpoints: readonly Endpoint[]): Endpoint[] {
  return [...endpoints].sort((a, b) => (a.paths[0] < b.paths[0] ? -1 : 1));
}
