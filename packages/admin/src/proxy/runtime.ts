import { json } from '../http/answer.ts';
import type { EndpointFactory } from './endpoint.ts';

/** `/runtime`: there are no runtime layers, so the lists are empty. */
export const runtime: EndpointFactory = () => ({
  paths: ['/runtime'],
  help: 'runtime values (there are none)',
  answer: () => json({ entries: {}, layers: [] }),
});
