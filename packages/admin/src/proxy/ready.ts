import type { EndpointFactory } from './endpoint.ts';

/** `/ready`: `LIVE`, or with 503 what it waits for. */
export const ready: EndpointFactory = ({ readiness }) => ({
  paths: ['/ready'],
  help: 'LIVE when requests are served, else 503 and the state',
  answer: () => {
    const state = readiness();
    return { status: state === 'LIVE' ? 200 : 503, body: `${state}\n` };
  },
});
