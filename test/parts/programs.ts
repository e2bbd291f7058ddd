import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Returns the arguments of Node.js that start a program: what `npm test` has bundled, because it starts faster; else the sources, which need no build. */
const program = (dir: string, name: string): readonly string[] =>
  process.env['REPOSITORY_READY'] === ROOT
    ? [join(ROOT, dir, 'bundle', `${name}.js`)]
    : ['--conditions=source', join(ROOT, dir, 'src', 'main.ts')];

export const GATEWAY = program('apps/gateway', 'edge-gateway');
export const GATEWAYCTL = program('packages/cli', 'gatewayctl');
