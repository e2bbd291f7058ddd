import { OK, always, type EndpointFactory } from './endpoint.ts';

/** `/reopen_logs`: opens log files again after they were moved away. */
export const reopenLogs: EndpointFactory = (options) =>
  options.reopenLogs && {
    paths: ['/reopen_logs'],
    help: 'reopens log files after they were moved',
    changes: always,
    answer: async () => {
      await options.reopenLogs?.();
      return OK;
    },
  };
