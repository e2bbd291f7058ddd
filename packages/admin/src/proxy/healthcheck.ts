import { OK, always, type EndpointFactory } from './endpoint.ts';

/** `/healthcheck/fail`: `/ready` responds DRAINING from now on. */
export const healthcheckFail: EndpointFactory = ({ setHealthy }) =>
  setHealthy && {
    paths: ['/healthcheck/fail'],
    help: 'fails the health check: /ready responds DRAINING',
    disruptive: true,
    changes: always,
    answer: () => {
      setHealthy(false);
      return OK;
    },
  };

/** `/healthcheck/ok`: reverts `/healthcheck/fail`. */
export const healthcheckOk: EndpointFactory = ({ setHealthy }) =>
  setHealthy && {
    paths: ['/healthcheck/ok'],
    help: 'reverts /healthcheck/fail',
    changes: always,
    answer: () => {
      setHealthy(true);
      return OK;
    },
  };
