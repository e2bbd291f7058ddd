import { startBookinfo } from './bookinfo.ts';
import { startEcho } from './echo.ts';
import type { Service } from './http-service.ts';

/** Ports that the demo's resources name as upstreams. */
export const DEMO_PORTS = { echo: 18081, bookinfo: 18082 } as const;

/** The running backends. */
export interface Demo {
  readonly services: readonly Service[];
  close(): Promise<void>;
}

/** Starts every backend of the demo on loopback. Rejects when a port is taken; those already started are stopped again. */
export async function startDemo(ports: Readonly<Record<keyof typeof DEMO_PORTS, number>> = DEMO_PORTS): Promise<Demo> {
  const starting = [startEcho({ port: ports.echo }), startBookinfo({ port: ports.bookinfo })];
  const settled = await Promise.allSettled(starting);
  const services = settled.filter((each) => each.status === 'fulfilled').map((each) => each.value);
  const close = async (): Promise<void> => {
    await Promise.all(services.map((service) => service.close()));
  };
  const failed = settled.find((each) => each.status === 'rejected');
  if (failed) {
    await close();
    throw failed.reason;
  }
  return { services, close };
}
