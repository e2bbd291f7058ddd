#!/usr/bin/env node
import { startDemo } from './demo.ts';

try {
  const demo = await startDemo();
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
