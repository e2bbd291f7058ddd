import { OK, always, type EndpointFactory } from './endpoint.ts';

/** `/reset_counters`: sets every counter to 0; gauges and histograms stay. */
export const resetCounters: EndpointFactory = ({ context }) => ({
  paths: ['/reset_counters'],
  help: 'sets every counter to 0',
  disruptive: true,
  changes: always,
  answer: () => {
    for (const family of context.metrics.families().values()) {
      for (const { type, stat } of family) if (type === 'counter') stat.value = 0;
    }
    return OK;
  },
});
