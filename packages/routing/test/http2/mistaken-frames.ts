import { FRAME } from '../listen/http2/frames.ts';

/** Bytes in front of the payload of a frame. */
const HEAD_BYTES = 9;

/** Pseudo-random numbers below `limit`, the same in every run. */
export function randomOf(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

/** Returns frames of which one may be missing, repeated, changed or out of order; one of the others may be among them. */
export function mistaken(
  frames: readonly Buffer[],
  others: readonly Buffer[],
  random: (limit: number) => number,
): Buffer {
  const sent = [...frames];
  const at = random(sent.length);
  switch (random(6)) {
    case 0:
      sent.splice(at, 1);
      break;
    case 1:
      sent.splice(at, 0, sent[at]!);
      break;
    case 2: {
      const changed = Buffer.from(sent[at]!);
      // Not in the text of a header: Node drops an invalid one, and our side rejects the message.
      const end = changed[3] === FRAME.headers ? HEAD_BYTES : changed.length;
      changed[random(end)]! ^= 1 << random(8);
      sent[at] = changed;
      break;
    }
    case 3:
      sent.push(sent.splice(at, 1)[0]!);
      break;
    case 4:
      sent.splice(at, 0, others[random(others.length)]!);
      break;
    default:
  }
  return Buffer.concat(sent);
}
