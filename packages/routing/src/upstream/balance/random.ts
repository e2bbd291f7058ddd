import { randomBelow, type Algorithm } from './algorithm.ts';

/** Each request goes to a random host; weights are ignored, as in Envoy. */
export const random: Algorithm = (hosts) => () => hosts[randomBelow(hosts.length)]?.host;
