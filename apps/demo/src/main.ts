#!/usr/bin/env node
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { startDemo } from './demo.ts';
import { ensureSecrets } from './generated-secrets.ts';

/** Directory of the generated secrets; without it, no identity provider is started. */
const [folder] = process.argv.slice(2);

// A port in use is reported below.
setLogVerbosity(logVerbosity.NONE);

try {
  const { clientSecret } = folder === undefined ? {} : await ensureSecrets(folder);
  const demo = await startDemo({ clientSecret });
  const backends = demo.services.map(({ name, port }) => `${name} ${port}`);
  console.error(`Demo backends on 127.0.0.1: ${backends.join(', ')}`);
  const stop = (): void => void demo.close().then(() => process.exit(0));
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.send?.({ ready: true });
} catch (error) {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const reason =
    code === 'EADDRINUSE'
      ? `port ${port} is in use by another program.\nIs a demo already running in another terminal? Stop it, then run the command again.`
      : `${String(error)}.`;
  console.error(`The demo cannot start: ${reason}`);
  process.exit(1);
}
