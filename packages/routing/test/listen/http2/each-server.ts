import type { ListenLimits } from '../../../src/index.ts';

let http2Server: ListenLimits['http2Server'] | undefined;

/** What reads HTTP/2 in the tests of this block. */
export const http2ServerLimits = (): Partial<ListenLimits> => (http2Server === undefined ? {} : { http2Server });

/** True in the tests of a block whose listeners read HTTP/2 without `node:http2`. */
export const isDirectServer = (): boolean => http2Server === 'direct';

/** Describes tests once with each server of HTTP/2. */
export function describeHttp2Servers(name: string, tests: () => void): void {
  for (const server of ['node', 'direct'] as const) {
    describe(`${name} (${server} server)`, () => {
      before(() => (http2Server = server));
      after(() => (http2Server = undefined));
      tests();
    });
  }
}
