import type { Answer } from '../http/answer.ts';
import type { ProxyAdminOptions } from './options.ts';

/** A query parameter, for the index page. */
export interface Parameter {
  readonly name: string;
  readonly help: string;
  /** The values it may have; free text when left out. */
  readonly values?: readonly string[];
  /** True when it counts without a value. */
  readonly flag?: boolean;
}

/** One path of the proxy admin. */
export interface Endpoint {
  /** Several when one page has more than one address; the first is listed. */
  readonly paths: readonly [string, ...string[]];
  readonly help: string;
  readonly parameters?: readonly Parameter[];
  /** Whether a request changes something, and so needs POST. Default never. */
  changes?(parameters: URLSearchParams): boolean;
  /** True if the home page asks for confirmation before it sends the form. Default false. */
  readonly disruptive?: boolean;
  answer(parameters: URLSearchParams): Answer | Promise<Answer>;
}

/** Makes an endpoint of what the admin shows; `undefined` when the part it needs is not there. */
export type EndpointFactory = (options: ProxyAdminOptions) => Endpoint | undefined;

export const OK: Answer = { body: 'OK\n' };

/** For endpoints that change something whenever they are called. */
export const always = (): boolean => true;

/** True for a parameter that is given, even without a value, and is not switched off. */
export function isOn(parameters: URLSearchParams, name: string): boolean {
  const value = parameters.get(name);
  return value !== null && !['false', 'off', '0', 'no'].includes(value.toLowerCase());
}
