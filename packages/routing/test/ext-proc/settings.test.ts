import type { Stage } from '@edge-gateway/core';
import { expect } from 'chai';
import { compileMutationRules } from '../../src/ext-proc/mutation-rules.ts';
import { compileSettings, overriddenMode } from '../../src/ext-proc/settings.ts';
import { slotOf } from '../../src/ext-proc/slots.ts';

describe('the settings of external processing', () => {
  it('have the defaults of Envoy', () => {
    expect(compileSettings({})).to.deep.include({
      mode: {
        requestHeaders: true,
        responseHeaders: true,
        requestBody: 'NONE',
        responseBody: 'NONE',
        requestTrailers: false,
        responseTrailers: false,
      },
      messageTimeoutMs: 200,
      maxMessageTimeoutMs: 0,
      callTimeoutMs: undefined,
      retries: 0,
      allowsFailures: false,
      allowsModeOverride: false,
    });
  });

  it('send metadata with keys in lower case, as gRPC requires', () => {
    const initialMetadata = [{ key: 'X-Tenant', value: 'A' }];
    expect(compileSettings({ grpcService: { initialMetadata } }).metadata).to.deep.equal([['x-tenant', 'A']]);
  });

  it('keep what a mode override leaves at its default', () => {
    const mode = {
      requestHeaders: true,
      responseHeaders: false,
      requestBody: 'BUFFERED',
      responseBody: 'NONE',
      requestTrailers: true,
      responseTrailers: true,
    } as const;
    const override = {
      requestHeaderMode: 2,
      responseHeaderMode: 0,
      requestBodyMode: 1,
      responseBodyMode: 3,
      requestTrailerMode: 0,
      responseTrailerMode: 2,
    };
    expect(overriddenMode(mode, override)).to.deep.equal({
      requestHeaders: true,
      responseHeaders: false,
      requestBody: 'STREAMED',
      responseBody: 'BUFFERED_PARTIAL',
      requestTrailers: true,
      responseTrailers: false,
    });
    expect(overriddenMode(mode, { ...override, responseHeaderMode: 1 }).responseHeaders).to.equal(true);
  });
});

describe('the stage at which a server is called', () => {
  const stages: readonly (readonly [Parameters<typeof slotOf>[0], Stage])[] = [
    [{}, 'regularTransformation'],
    [{ stage: 'FaultStage', predicate: 'After' }, 'cors'],
    [{ stage: 'AuthNStage', predicate: 'Before' }, 'jwtBeforeExtAuth'],
    [{ stage: 'AuthNStage', predicate: 'During' }, 'extAuth'],
    [{ stage: 'AuthNStage', predicate: 'After' }, 'earlyTransformation'],
    [{ stage: 'AuthZStage', predicate: 'After' }, 'rateLimit'],
    [{ stage: 'OutAuthStage', predicate: 'After' }, 'destination'],
  ];
  for (const [filterStage, stage] of stages)
    it(`is ${stage} for ${JSON.stringify(filterStage)}`, () => expect(slotOf(filterStage)).to.equal(stage));
});

describe('the rules for changes of a server', () => {
  it('disallow before they allow', () => {
    const rules = compileMutationRules({ allowExpression: 'x-a.*', disallowExpression: 'x-ab', disallowAll: true });
    expect(['x-a', 'x-ab', 'x-c'].map((name) => rules.allows(name))).to.deep.equal([true, false, false]);
  });

  it('allow neither x-envoy- headers nor those of routing, unless they say so', () => {
    const names = ['x-a', ':path', 'host', 'x-envoy-a', 'content-length'];
    const allowed = (options: Parameters<typeof compileMutationRules>[0]) =>
      names.filter((name) => compileMutationRules(options).allows(name));
    expect(allowed({})).to.deep.equal(['x-a', ':path']);
    expect(allowed({ allowAllRouting: true, allowEnvoy: true })).to.deep.equal(names.slice(0, 4));
    expect(allowed({ disallowSystem: true })).to.deep.equal(['x-a']);
  });
});
