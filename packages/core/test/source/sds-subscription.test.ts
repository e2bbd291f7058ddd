import { EventEmitter } from 'node:events';
import { readFileSync } from 'node:fs';
import { mock } from 'node:test';
import { expect } from 'chai';
import type { DiscoveryStream } from '../../src/source/sds-client.ts';
import { wantedSecrets } from '../../src/source/sds-secret.ts';
import { SecretSubscription } from '../../src/source/sds-subscription.ts';

const ROOTS = readFileSync(new URL('../../../routing/test/upstream/certificates/ca.crt', import.meta.url), 'utf8');

/** A stream without a server. */
class FakeStream extends EventEmitter {
  readonly sent: unknown[] = [];
  write(message: unknown): boolean {
    this.sent.push(message);
    return true;
  }
  isCancelled = false;
  cancel(): void {
    this.isCancelled = true;
  }
  /** Sends a secret that is accepted. */
  accept(): void {
    this.emit('data', { version_info: 'v1', nonce: 'n1' });
  }
  /** Sends a response without the secret, which is rejected. */
  reject(): void {
    this.emit('data', { version_info: 'bad', nonce: 'n2' });
  }
  end(): void {
    this.emit('status', { code: 14, details: 'gone' });
  }
}

describe('a subscription of a secret', () => {
  let subscription: SecretSubscription;
  let streams: FakeStream[];
  before(() => mock.timers.enable({ apis: ['setTimeout'] }));
  after(() => mock.timers.reset());
  afterEach(() => subscription.close());

  /** Lets what was started by a timer run: promises that are already settled. */
  const settled = () => new Promise(setImmediate);

  function subscribe(): void {
    streams = [];
    const loaded = {
      requestFor: (name: string, request: object) => ({ name, ...request }),
      secretsOfResponse: ({ version_info: version }: { version_info: string }) =>
        version === 'bad' ? [] : [{ name: 'roots', validation_context: { trusted_ca: { inline_string: ROOTS } } }],
    };
    subscription = new SecretSubscription({
      wanted: wantedSecrets({ validationContextName: 'roots' })[0]!,
      server: 'test',
      serverField: 'targetUri',
      open: async () => {
        const stream = new FakeStream();
        streams.push(stream);
        return { stream: stream as unknown as DiscoveryStream, loaded: loaded as never };
      },
      onChange: () => {},
      onRejected: () => {},
      random: () => 1,
    });
  }

  /** Ends the stream; expects the next one after this delay, not earlier. */
  async function expectDelay(delayMs: number): Promise<void> {
    const count = streams.length;
    streams.at(-1)!.end();
    mock.timers.tick(delayMs - 1);
    await settled();
    expect(streams, `before ${delayMs} ms`).to.have.length(count);
    mock.timers.tick(1);
    await settled();
    expect(streams, `after ${delayMs} ms`).to.have.length(count + 1);
  }

  it('opens another stream after growing delays, up to 30 seconds', async () => {
    subscribe();
    await settled();
    for (const delayMs of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) await expectDelay(delayMs);
  });

  it('begins with the first delay again after an accepted response', async () => {
    subscribe();
    await settled();
    for (const delayMs of [500, 1_000, 2_000]) await expectDelay(delayMs);
    streams.at(-1)!.accept();
    expect(subscription.problem).to.equal(undefined);
    await expectDelay(500);
    await expectDelay(1_000);
  });

  it('rejects at once the first bad response after an accepted one, later the ones that follow', async () => {
    subscribe();
    await settled();
    const [stream] = streams;
    const rejections = (): number => stream!.sent.filter((each) => 'error_detail' in (each as object)).length;
    stream!.reject();
    expect(rejections()).to.equal(1);
    stream!.reject();
    expect(rejections()).to.equal(1);
    mock.timers.tick(1_000);
    expect(rejections()).to.equal(2);
    stream!.accept();
    stream!.reject();
    expect(rejections()).to.equal(3);
  });

  it('rejects only the last of several bad responses that follow, and none once the stream has ended', async () => {
    subscribe();
    await settled();
    const [stream] = streams;
    const sent = (): number => stream!.sent.length;
    for (let i = 0; i < 4; i++) stream!.reject();
    expect(sent()).to.equal(2);
    mock.timers.tick(1_000);
    expect(sent()).to.equal(3);
    for (let i = 0; i < 2; i++) stream!.reject();
    stream!.end();
    mock.timers.tick(1_000);
    await settled();
    expect([sent(), streams.length]).to.deep.equal([3, 2]);
  });

  it('cancels a stream that opens after it was closed', async () => {
    subscribe();
    subscription.close();
    await settled();
    expect(streams[0]!.isCancelled).to.equal(true);
    expect(streams[0]!.sent).to.deep.equal([]);
  });
});
