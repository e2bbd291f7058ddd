import { OK, always, type EndpointFactory } from './endpoint.ts';

/** `/quitquitquit`: ends the process after the response. */
export const quitQuitQuit: EndpointFactory = ({ quit }) =>
  quit && {
    paths: ['/quitquitquit'],
    help: 'ends the process',
    disruptive: true,
    changes: always,
    answer: () => ({ ...OK, after: quit }),
  };
