import type { ReceivedFrame } from './frame-reader.ts';
import * as frames from './frame-types.ts';
import { connectionError } from './protocol-errors.ts';

const BYTES = 6;

/** The settings of a peer that concern this side. */
export class PeerSettings {
  maxFrameBytes = frames.DEFAULT_FRAME_BYTES;
  initialWindow = frames.DEFAULT_WINDOW;
  /** Maximum number of streams at once; unlimited if undefined. */
  maxStreams: number | undefined;
  /** True if the server accepts WebSockets (RFC 8441). */
  acceptsWebSockets = false;
  readonly #isServer: boolean;

  /** `isServer` on the side of the server. */
  constructor(isServer: boolean) {
    this.#isServer = isServer;
  }

  /** Reads a `SETTINGS` frame. */
  read({ buffer, start, end }: ReceivedFrame): void {
    if ((end - start) % BYTES !== 0) throw connectionError('FRAME_SIZE_ERROR', 'settings have the wrong size');
    for (let at = start; at < end; at += BYTES) this.#set(buffer.readUInt16BE(at), buffer.readUInt32BE(at + 2));
  }

  #set(id: number, value: number): void {
    switch (id) {
      case frames.ENABLE_PUSH:
        if (value > 1) throw connectionError('PROTOCOL_ERROR', `the setting ${value} of push is invalid`);
        if (value !== 0 && !this.#isServer) throw connectionError('PROTOCOL_ERROR', 'a server enables push');
        break;
      case frames.MAX_CONCURRENT_STREAMS:
        this.maxStreams = value;
        break;
      case frames.INITIAL_WINDOW_SIZE:
        if (value > frames.LARGEST_WINDOW)
          throw connectionError('FLOW_CONTROL_ERROR', 'the initial window is too large');
        this.initialWindow = value;
        break;
      case frames.MAX_FRAME_SIZE:
        if (value < frames.DEFAULT_FRAME_BYTES || value > frames.LARGEST_FRAME_BYTES)
          throw connectionError('PROTOCOL_ERROR', `the frame size ${value} is not allowed`);
        this.maxFrameBytes = value;
        break;
      case frames.ENABLE_CONNECT_PROTOCOL:
        if (value > 1 || (this.acceptsWebSockets && value === 0))
          throw connectionError('PROTOCOL_ERROR', 'the setting of extended CONNECT is invalid');
        this.acceptsWebSockets = value === 1;
        break;
      default:
    }
  }
}
