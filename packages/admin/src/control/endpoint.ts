import type { Request } from 'express';
import type { Answer } from '../http/answer.ts';
import type { ControlAdminOptions } from './options.ts';

/** One path of the control-plane port. */
export interface ControlEndpoint {
  /** Several when one page has more than one address; the first is listed. */
  readonly paths: readonly [string, ...string[]];
  readonly help: string;
  get(req: Request): Answer | Promise<Answer>;
  /** Receives the parsed JSON body. */
  put?(body: unknown): Answer;
}

/** Makes an endpoint of what the control-plane port shows. */
export type ControlEndpointFactory = (options: ControlAdminOptions) => ControlEndpoint;
