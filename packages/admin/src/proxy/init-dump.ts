import { json } from '../http/answer.ts';
import type { EndpointFactory } from './endpoint.ts';

/** `/init_dump`: what the start waits for; empty once it is over. */
export const initDump: EndpointFactory = ({ snapshot, readiness }) => ({
  paths: ['/init_dump'],
  help: 'targets that the start waits for',
  answer: () => {
    const waits = ['PRE_INITIALIZING', 'INITIALIZING'].includes(readiness());
    const targets = snapshot() ? ['listeners'] : ['snapshot'];
    return json(waits ? { unready_targets_dumps: [{ name: 'init manager Server', target_names: targets }] } : {});
  },
});
