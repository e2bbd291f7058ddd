import { createRequire } from 'node:module';

/** `node:http`. An `import` of it would load the client of `fetch` too, which short commands do not need. */
export const http = createRequire(import.meta.url)('node:http') as typeof import('node:http');
