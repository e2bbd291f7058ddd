import type { EndpointResponse } from '../http/endpoint-response.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { SCRIPT, SCRIPT_PATH, STYLE, STYLE_PATH } from './assets.ts';

/** The style of all pages, and of the sign-in form: each port with a token has it. */
export const styleEndpoint = asset(STYLE_PATH, 'css', STYLE);
export const scriptEndpoint = asset(SCRIPT_PATH, 'script', SCRIPT);

function asset(path: string, type: 'css' | 'script', body: string): Endpoint {
  const respond = (): EndpointResponse => ({ type, body });
  return { paths: [path], help: 'part of the status page', respond };
}
