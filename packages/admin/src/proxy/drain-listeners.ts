import { OK, always, isOn, type EndpointFactory } from './endpoint.ts';

/** `/drain_listeners`: stops accepting connections. */
export const drainListeners: EndpointFactory = ({ context, drain }) =>
  drain && {
    paths: ['/drain_listeners'],
    help: 'stops accepting connections',
    disruptive: true,
    parameters: [{ name: 'graceful', help: 'let open connections finish their requests', flag: true }],
    changes: always,
    answer: (parameters) => {
      const graceful = isOn(parameters, 'graceful');
      const log = context.log.get('admin');
      const start = async (): Promise<void> => drain({ graceful });
      return { ...OK, after: () => void start().catch((err) => log.error({ err }, 'listeners cannot be drained')) };
    },
  };
