import { expect } from 'chai';
import {
  createContext,
  createLoggers,
  GatewayError,
  type Context,
  type GroupLookup,
  type SecretValue,
} from '@edge-gateway/core';
import type { AzureGroups } from '@edge-gateway/core/schema';
import { startMicrosoft, type Microsoft } from '../../../../test/parts/microsoft.ts';
import { azureGroups } from '../../src/index.ts';

export const TENANT = '8d5d1d5c-2f0b-4c8d-9a0f-0a3a4f1d2b11';
export const OID = '1111aaaa-2222-4bbb-8ccc-333344445555';
/** Must be nowhere but in the body of the call for a token. */
export const SECRET = 'the-secret-of-the-app';

const secret = (data: Readonly<Record<string, string>>): SecretValue => ({
  type: 'extauth.vendor.io/oauth',
  data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
});
const SECRETS: Readonly<Record<string, SecretValue>> = {
  graph: secret({ 'client-secret': SECRET }),
  web: secret({ 'client-secret': 'the-secret-of-the-client' }),
  empty: secret({ other: 'x' }),
};

export const BLOCK: AzureGroups = { clientId: 'groups-reader', tenantId: TENANT, clientSecret: { name: 'graph' } };

/** A scripted Microsoft, a clock, and contexts as of several processes. */
export interface Cloud {
  readonly microsoft: Microsoft;
  /** Milliseconds since the epoch; a test may move it. */
  clock: number;
  /** All that was logged. */
  log: string;
  context(): Context;
  /** A lookup in a process of its own, unless a context says otherwise. */
  lookup(more?: Partial<AzureGroups>, context?: Context): GroupLookup;
  /** Claims of a token whose groups were left out; it ends in an hour. */
  claims(more?: Readonly<Record<string, unknown>>): Record<string, unknown>;
  close(): Promise<void>;
}

export async function startCloud(): Promise<Cloud> {
  const microsoft = await startMicrosoft();
  const made: GroupLookup[] = [];
  const start = Math.floor(Date.now() / 1000);
  const cloud: Cloud = {
    microsoft,
    clock: start * 1000,
    log: '',
    context: () =>
      createContext({
        azure: microsoft.addresses,
        now: () => cloud.clock,
        secrets: { get: ({ name }) => SECRETS[name] },
        log: createLoggers({ destination: { write: (line) => void (cloud.log += line) } }),
      }),
    lookup(more, context = cloud.context()) {
      const lookup = azureGroups({ ...BLOCK, ...more }, { context });
      made.push(lookup);
      return lookup;
    },
    claims: (more) => ({
      iss: `https://login.microsoftonline.com/${TENANT}/v2.0`,
      sub: 'someone',
      oid: OID,
      tid: TENANT,
      iat: start,
      exp: start + 3600,
      _claim_names: { groups: 'src1' },
      _claim_sources: { src1: { endpoint: `https://graph.windows.net/${TENANT}/users/${OID}/getMemberObjects` } },
      ...more,
    }),
    async close() {
      for (const lookup of made) lookup.close();
      await microsoft.close();
    },
  };
  return cloud;
}

/** Why groups were not given; anything but the one error for that is a failed test. */
export const failureOf = async (asked: Promise<unknown>): Promise<GatewayError> => {
  const error = await asked.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error, 'no groups, no error').to.be.instanceOf(GatewayError);
  expect(error).to.include({ code: 'ERR_OIDC_GROUPS_UNAVAILABLE', status: 503 });
  return error as GatewayError;
};
