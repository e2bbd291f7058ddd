import { expect } from 'chai';
import { FrameReader, type FrameSink } from '../../src/http2/frame-reader.ts';
import { ConnectionError } from '../../src/http2/protocol-errors.ts';
import { FLAG, FRAME } from '../listen/http2/frames.ts';
import { data, frame, lastData } from '../upstream/http2/frames.ts';

/** What a reader reports, with the parts of a `DATA` frame joined. */
class Recorder implements FrameSink {
  readonly events: string[] = [];
  #open = false;

  onDataFrame(id: number, bytes: number): void {
    this.events.push(`data ${id} ${bytes}: `);
  }

  onPadding(): void {}

  onData(buffer: Buffer, start: number, end: number, isLast: boolean): void {
    this.events[this.events.length - 1] += buffer.toString('latin1', start, end) + (isLast ? ' (last)' : '');
    this.#open = !isLast;
  }

  onFrame({ type, flags, id, buffer, start, end }: Parameters<FrameSink['onFrame']>[0]): void {
    this.events.push(`frame ${type} ${flags} ${id}: ${buffer.toString('latin1', start, end)}`);
  }

  get isOpen(): boolean {
    return this.#open;
  }
}

const padded = (id: number, flags: number, body: string, padding: number): Buffer =>
  frame(
    FRAME.data,
    flags | FLAG.padded,
    id,
    Buffer.concat([Buffer.of(padding), Buffer.from(body), Buffer.alloc(padding)]),
  );

const FRAMES = [
  frame(FRAME.settings, 0, 0),
  frame(FRAME.headers, FLAG.endHeaders, 1, 'block'),
  data(1, 'body'),
  padded(1, 0, 'padded', 3),
  padded(1, 0, '', 0),
  data(1, ''),
  frame(FRAME.ping, 0, 0, '12345678'),
  padded(1, FLAG.endStream, 'end', 2),
  lastData(3, ''),
  frame(0xee, 0xff, 0x7fffffff, 'unknown'),
  lastData(5, 'x'),
];

const EVENTS = [
  'frame 4 0 0: ',
  'frame 1 4 1: block',
  'data 1 4: body',
  'data 1 10: padded',
  'data 1 1: ',
  'data 1 0: ',
  'frame 6 0 0: 12345678',
  'data 1 6: end (last)',
  'data 3 0:  (last)',
  'frame 238 255 2147483647: unknown',
  'data 5 1: x (last)',
];

describe('FrameReader', () => {
  it('reads the same frames however they are split', () => {
    const bytes = Buffer.concat(FRAMES);
    for (let first = 0; first <= bytes.length; first++) {
      for (const second of [first, first + 1, first + 9, bytes.length]) {
        const recorder = new Recorder();
        const reader = new FrameReader(recorder);
        const cuts = [0, first, Math.min(second, bytes.length), bytes.length];
        for (let i = 1; i < cuts.length; i++) {
          // As in a buffer that is used again, between other bytes.
          const buffer = Buffer.concat([Buffer.of(7), bytes.subarray(cuts[i - 1], cuts[i]), Buffer.of(7)]);
          reader.read(buffer, 1, buffer.length - 1);
          buffer.fill(0);
        }
        expect(recorder.events, `${first}, ${second}`).to.deep.equal(EVENTS);
      }
    }
  });

  it('reads byte by byte', () => {
    const recorder = new Recorder();
    const reader = new FrameReader(recorder);
    for (const byte of Buffer.concat(FRAMES)) reader.read(Buffer.of(byte), 0, 1);
    expect(recorder.events).to.deep.equal(EVENTS);
  });

  it('ends a stream only with the last byte of its frame', () => {
    const recorder = new Recorder();
    const reader = new FrameReader(recorder);
    const bytes = padded(1, FLAG.endStream, 'end', 5);
    reader.read(bytes, 0, bytes.length - 1);
    expect(recorder.events).to.deep.equal(['data 1 9: end']);
    expect(recorder.isOpen).to.equal(true);
    reader.read(bytes, bytes.length - 1, bytes.length);
    expect(recorder.isOpen).to.equal(false);
  });

  it('rejects frames that are too large, and wrong padding', () => {
    const cases: Readonly<Record<string, Buffer>> = {
      'a frame is too large': frame(FRAME.headers, 0, 1, Buffer.alloc(16_385)),
      'a padded frame is empty': frame(FRAME.data, FLAG.padded, 1),
      'the padding is longer than its frame': frame(FRAME.data, FLAG.padded, 1, Buffer.of(1)),
    };
    for (const [message, bytes] of Object.entries(cases))
      expect(() => new FrameReader(new Recorder()).read(bytes, 0, bytes.length)).to.throw(ConnectionError, message);
  });
});
