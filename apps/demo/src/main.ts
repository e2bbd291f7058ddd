#!/usr/bin/env node
import { logVerbosity, setLogVerbosity } from '@grpc/grpc-js';
import { portInUse, startDemo } from './demo.ts';
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
  process.on('SIGTERM', stop);
  // A terminal sends Ctrl-C to every program: the parent ends this one after the gateway, whose requests need it until then.
  process.on('SIGINT', process.connected ? () => {} : stop);
  process.send?.({ ready: true });
} catch (error) {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  console.error(`The demo cannot start: ${code === 'EADDRINUSE' ? portInUse(port) : `${String(error)}.`}`);
  process.exit(1);
}
