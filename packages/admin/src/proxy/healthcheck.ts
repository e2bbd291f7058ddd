import { OK, always, type EndpointFactory } from './endpoint.ts';

/** `/healthcheck/fail`: `/ready` says DRAINING from now on. */
export const healthcheckFail: EndpointFactory = ({ setHealthy }) =>
  setHealthy && {
    paths: ['/healthcheck/fail'],
    help: 'makes /ready answer DRAINING',
    disruptive: true,
    changes: always,
    answer: () => {
      setHealthy(false);
      return OK;
    },
  };

/** `/healthcheck/ok`: takes `/healthcheck/fail` back. */
export const healthcheckOk: EndpointFactory = ({ setHealthy }) =>
  setHealthy && {
    paths: ['/healthcheck/ok'],
    help: 'takes /healthcheck/fail back',
    changes: always,
    answer: () => {
      setHealthy(true);
      return OK;
    },
  };
