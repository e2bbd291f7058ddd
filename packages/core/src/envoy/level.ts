import type { Destination, Route, VirtualHost } from '../contract/snapshot.ts';

/** The options of a virtual host, a route or a weighted destination. */
export type Level = VirtualHost['options'] | Route['options'] | Destination['options'];
