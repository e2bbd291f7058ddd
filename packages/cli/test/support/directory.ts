import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Io } from '../../src/io.ts';
import { call, type Outcome } from './captured-io.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A directory of resources, `resources`, in a temporary one. */
export interface ResourceDirectory {
  readonly cwd: string;
  /** The path of a file in `resources`. */
  path(name: string): string;
  read(name: string): string;
  write(name: string, text: string): void;
  names(): string[];
  /** Runs a call with `--config resources`. */
  call(argv: readonly string[], more?: Partial<Io>): Promise<Outcome>;
  remove(): void;
}

export function createDirectory(): ResourceDirectory {
  const cwd = temporaryDirectory();
  mkdirSync(join(cwd, 'resources'));
  const path = (name: string) => join(cwd, 'resources', name);
  return {
    cwd,
    path,
    read: (name) => readFileSync(path(name), 'utf8'),
    write: (name, text) => writeFileSync(path(name), text),
    names: () => readdirSync(join(cwd, 'resources')).sort(),
    call: (argv, more) => call([...argv, '--config', 'resources'], { cwd, ...more }),
    remove: () => rmSync(cwd, { recursive: true }),
  };
}

/** A shop in one file, written by hand. */
export const SHOP = `# The shop.
apiVersion: gw.vendor.io/v1
kind: Upstream
metadata: { name: cart }   # the cart
spec:
  static:
    hosts: [{ addr: 127.0.0.1, port: 8081 }]
---
# Everything else
apiVersion: gateway.vendor.io/v1
kind: VirtualService
metadata:
  name: shop
  namespace: gw-system
spec:
  virtualHost:
    domains: ['*']
    routes:
    # health first
    - matchers: [{exact: /health}]
      directResponseAction: {status: 200}   # fine


    # the rest
    - matchers: [{prefix: /}]
      routeAction:
        single:
          upstream: {name: cart,   namespace: gw-system}
`;

/** The lines that only one of two texts has, with `-` and `+`; of equal lines, as many as one has more. */
export function changedLines(before: string, after: string): string[] {
  const without = (lines: string[], others: string[]): string[] => {
    const left = [...others];
    return lines.filter((line) => {
      const at = left.indexOf(line);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
  };
  const [a, b] = [before.split('\n'), after.split('\n')];
  return [...without(a, b).map((line) => `-${line}`), ...without(b, a).map((line) => `+${line}`)];
}
