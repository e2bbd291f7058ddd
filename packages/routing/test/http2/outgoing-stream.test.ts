import { expect } from 'chai';
import { HIGH_WATER_BYTES, OutgoingStream, type StreamConnection } from '../../src/http2/outgoing-stream.ts';
import { PeerSettings } from '../../src/http2/peer-settings.ts';

const FRAME = 16_384;

class TestConnection implements StreamConnection {
  readonly settings = new PeerSettings(false);
  readonly streamWindow = 65_535;
  readonly isBlocked = false;
  sendWindow = 10_000_000;
  waiting = false;
  sent = 0;
  send(): void {}
  sendData(_head: string, data: Buffer): void {
    this.sent += data.length;
  }
  sendFields(): void {}
  sendReset(): void {}
  sendWindowUpdate(): void {}
  whenWritten(): void {}
  hasDataToSend(): void {
    this.waiting = true;
  }
  cannotSend(): void {
    this.waiting = false;
  }
}

class TestStream extends OutgoingStream {
  readonly id = 1;
  readonly connection = new TestConnection();
  drained = 0;
  hasEnded = false;

  constructor() {
    super({ settings: new PeerSettings(false) } as StreamConnection);
    this.changeWindow(1_000_000);
  }
  write(length: number): boolean {
    return this.enqueue(Buffer.alloc(length));
  }
  end(): void {
    this.isEnding = true;
    this.sendLater();
  }
  protected onSentEnd(): void {
    this.hasEnded = true;
  }
  protected onDrain(): void {
    this.drained++;
  }
  protected onInvalidWindow(): void {}
}

describe('the sending side of a stream', () => {
  it('asks to wait from the high-water mark on, and drains once below it', () => {
    const stream = new TestStream();
    expect(stream.write(HIGH_WATER_BYTES - 1)).to.equal(true);
    expect(stream.write(1)).to.equal(false);
    expect(stream.writableNeedDrain).to.equal(true);
    expect(stream.sendFrame()).to.equal(true);
    expect([stream.drained, stream.writableNeedDrain]).to.deep.equal([1, false]);
    expect(stream.sendFrame()).to.equal(true);
    expect(stream.drained).to.equal(1);
  });

  it('does not drain while as much waits as before', () => {
    const stream = new TestStream();
    stream.write(2 * HIGH_WATER_BYTES);
    for (let sent = FRAME; sent <= HIGH_WATER_BYTES; sent += FRAME) {
      expect(stream.drained).to.equal(0);
      stream.sendFrame();
    }
    expect(stream.drained).to.equal(0);
    stream.sendFrame();
    expect(stream.drained).to.equal(1);
  });

  it('sends nothing while the window of the connection or its own is empty, and goes on with an update', () => {
    const stream = new TestStream();
    stream.write(10);
    stream.connection.sendWindow = 0;
    expect(stream.sendFrame()).to.equal(false);
    expect(stream.connection.waiting).to.equal(true);
    stream.connection.sendWindow = 100;
    stream.changeWindow(-1_065_535);
    expect(stream.sendFrame()).to.equal(false);
    expect(stream.connection.waiting).to.equal(false);
    stream.onWindowUpdate(4);
    expect(stream.connection.waiting).to.equal(true);
    expect(stream.sendFrame()).to.equal(true);
    expect([stream.connection.sent, stream.connection.sendWindow, stream.writableLength]).to.deep.equal([4, 96, 6]);
  });

  it('ends with its last data, without waiting for more', () => {
    const stream = new TestStream();
    stream.write(HIGH_WATER_BYTES);
    stream.end();
    for (let i = 0; i < HIGH_WATER_BYTES / FRAME; i++) stream.sendFrame();
    expect(stream.hasEnded).to.equal(true);
    expect([stream.sendFrame(), stream.connection.waiting]).to.deep.equal([false, false]);
  });
});
