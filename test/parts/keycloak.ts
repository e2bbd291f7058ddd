import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DEMO_USERS, type DemoClient } from '@edge-gateway/demo';
import { ROOT } from '../docs/workspace.ts';
import { installed } from './apt.ts';
import { freePort } from './free-port.ts';

const run = promisify(execFile);
const VERSION = '26.7.3';
const FOLDER = join(ROOT, '.artifacts', 'keycloak');
const HOME = join(FOLDER, `keycloak-${VERSION}`);
const BUILT = join(HOME, 'data', 'built');
const REALM = 'demo';
const START_TIMEOUT_MS = 120_000;

/** A Keycloak with one realm: the demo's users, and one client. */
export interface Keycloak {
  readonly issuer: string;
  readonly port: number;
  readonly jwksUri: string;
  close(): Promise<void>;
}

/** Starts a Keycloak of its own, in memory; fetched from the Maven repository and built the first time. */
export async function startKeycloak(client: DemoClient): Promise<Keycloak> {
  await prepare();
  const port = await freePort();
  mkdirSync(join(HOME, 'data', 'import'), { recursive: true });
  writeFileSync(join(HOME, 'data', 'import', `${REALM}-realm.json`), JSON.stringify(realmOf(client)));
  const flags = ['--optimized', '--import-realm', '--http-enabled=true', '--hostname-strict=false'];
  const child = spawn(join(HOME, 'bin', 'kc.sh'), ['start', ...flags, '--http-host=127.0.0.1', `--http-port=${port}`], {
    stdio: 'ignore',
    detached: true,
  });
  const issuer = `http://127.0.0.1:${port}/realms/${REALM}`;
  const close = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    process.kill(-child.pid!, 'SIGKILL');
    await gone;
  };
  const giveUp = Date.now() + START_TIMEOUT_MS;
  while (!(await fetch(`${issuer}/.well-known/openid-configuration`).catch(() => undefined))?.ok) {
    if (Date.now() > giveUp || child.exitCode !== null) {
      await close();
      throw new Error('Keycloak does not start');
    }
    await wait(50);
  }
  return { issuer, port, jwksUri: `${issuer}/protocol/openid-connect/certs`, close };
}

async function prepare(): Promise<void> {
  if (existsSync(BUILT)) return;
  await installed('java', 'openjdk-17-jre-headless');
  const maven = await installed('mvn', 'maven');
  mkdirSync(FOLDER, { recursive: true });
  const fresh = mkdtempSync(join(FOLDER, 'fresh-'));
  const artifact = `org.keycloak:keycloak-quarkus-dist:${VERSION}:zip`;
  await run(maven, ['-q', '-B', 'dependency:unpack', `-Dartifact=${artifact}`, `-DoutputDirectory=${fresh}`], {
    // Maven leaves marks where it is called.
    cwd: fresh,
  });
  const home = join(fresh, `keycloak-${VERSION}`);
  await run('sh', [join(home, 'bin', 'kc.sh'), 'build', '--db=dev-mem', '--cache=local', '--health-enabled=false']);
  await run('chmod', ['-R', 'u+x', join(home, 'bin')]);
  mkdirSync(join(home, 'data'), { recursive: true });
  writeFileSync(join(home, 'data', 'built'), '');
  renameSync(home, HOME);
}

function realmOf({ clientId, clientSecret, redirectUris, postLogoutRedirectUris }: DemoClient) {
  return {
    realm: REALM,
    enabled: true,
    sslRequired: 'none',
    clients: [
      {
        clientId,
        secret: clientSecret,
        redirectUris,
        publicClient: false,
        standardFlowEnabled: true,
        attributes: { 'post.logout.redirect.uris': postLogoutRedirectUris.join('##') },
      },
    ],
    users: DEMO_USERS.map(({ email, name, password }) => ({
      username: email,
      email,
      emailVerified: true,
      enabled: true,
      firstName: name.split(' ')[0],
      lastName: name.split(' ')[1],
      credentials: [{ type: 'password', value: password }],
    })),
  };
}
