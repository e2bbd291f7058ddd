#!/usr/bin/env node
import { startDemo } from './demo.ts';
import { ensureSecrets } from './generated-secrets.ts';

/** Folder of the generated secrets; without it there is no identity provider. */
const [folder] = process.argv.slice(2);

try {
  const { clientSecret } = folder === undefined ? {} : await ensureSecrets(folder);
  const demo = await startDemo({ clientSecret });
  for (const { name, host, port } of demo.services) console.error(`demo backend ${name} on http://${host}:${port}`);
  const stop = (): void => void demo.close().then(() => process.exit(0));
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
} catch (error) {
  const { code, port } = error as NodeJS.ErrnoException & { port?: number };
  const reason =
    code === 'EADDRINUSE' ? `port ${port} is taken by another program; stop it and try again` : String(error);
  console.error(`The demo's backends cannot start: ${reason}.`);
  process.exit(1);
}
